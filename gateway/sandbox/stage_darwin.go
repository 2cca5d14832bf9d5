package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// stage does what the plan says, in the order that control_darwin.go draws.
func stage() error {
	if err := guardDescriptors(); err != nil {
		return fmt.Errorf("guard descriptors: %w", err)
	}
	// Outside of a sandbox endOthers would end the user's whole session. The
	// launcher is of the same user, so only a sandbox keeps signals from it.
	if err := unix.Kill(os.Getppid(), 0); !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("the stage is not confined: a signal to its launcher: %v", err)
	}
	pipe, reports := os.NewFile(ordersFD, "orders"), os.NewFile(reportsFD, "reports")
	orders := json.NewDecoder(pipe)
	var todo plan
	if err := orders.Decode(&todo); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	if err := limit(todo.Processes); err != nil {
		return err
	}
	if err := encode(reports, ready{os.Getpid()}); err != nil {
		return fmt.Errorf("send ready: %w", err)
	}
	var o order
	if err := orders.Decode(&o); err != nil || o != orderGo {
		return fmt.Errorf("wait for go: %q: %w", o, err)
	}
	// The command can signal the stage. What can be caught is passed over; when
	// the stage is killed, the launcher ends the tree. Caught signals, unlike
	// ignored ones, are not handed on to the command.
	signal.Notify(make(chan os.Signal, 1))
	pid, err := start(todo.task)
	if err != nil {
		return encode(reports, report{Failure: err.Error()})
	}
	if err := encode(reports, report{Started: true}); err != nil {
		endOthers()
		return fmt.Errorf("send report: %w", err)
	}
	go obey(orders, pid)
	err = encode(reports, reap(pid))
	endOthers()
	return err
}

// limit sets what the stage and all it starts may use.
func limit(processes uint64) error {
	for _, l := range []struct {
		resource int
		most     uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_NPROC, processes}} {
		var have unix.Rlimit
		if err := unix.Getrlimit(l.resource, &have); err != nil {
			return fmt.Errorf("read limit %d: %w", l.resource, err)
		}
		most := min(l.most, have.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("set limit %d: %w", l.resource, err)
		}
	}
	return nil
}

// obey carries out orders until the launcher is gone or wants an end.
func obey(orders *json.Decoder, pid int) {
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			endOthers()
			os.Exit(1)
		}
		if o == orderTerminate {
			// The only error is that it ended, which reap reports.
			unix.Kill(pid, unix.SIGTERM)
		}
	}
}

// reap waits for the command itself; orphans are the system's.
func reap(pid int) report {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return report{Ended: true, Code: -1, Signal: int(unix.SIGKILL)}
		case status.Signaled():
			return report{Ended: true, Code: -1, Signal: int(status.Signal())}
		default:
			return report{Ended: true, Code: status.ExitStatus()}
		}
	}
}

const (
	// endPause is between two looks whether everything is gone.
	endPause = 2 * time.Millisecond
	// endLimit bounds them: with a launcher, it looks too.
	endLimit = 5 * time.Second
)

// endOthers kills every process in this sandbox but the stage. To all others
// the profile allows it no signal, and stage has made sure of that.
func endOthers() {
	for end := time.Now().Add(endLimit); time.Now().Before(end); time.Sleep(endPause) {
		if err := unix.Kill(-1, unix.SIGKILL); err != nil {
			return // nobody is there to be killed
		}
	}
}
