package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"deckhand/app/demo/process"
)

// goneWithin is how long ended processes may take to disappear from the table.
const goneWithin = 10 * time.Second

// clean ends what runs, proves that nothing is left, and removes the temporary
// directory. It does each step also if one before went wrong.
func (d *demo) clean(ctx context.Context) error {
	var problems []error
	note := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	if d.gateway != nil {
		note(d.stopSessions(ctx))
		note(d.gateway.Stop())
		note(d.closed())
	}
	if d.client != nil {
		d.client.Close()
	}
	note(d.nothingRuns(ctx))
	note(d.nothingLies())
	if err := os.RemoveAll(d.temp); err != nil {
		note(fmt.Errorf("remove the temporary directory: %w", err))
	}
	return errors.Join(problems...)
}

// stopSessions ends the sessions that an early end left; a gateway that was
// just killed is started again for it, since only it can end them in order.
func (d *demo) stopSessions(ctx context.Context) error {
	if len(d.live) == 0 {
		return nil
	}
	if !d.gateway.Running() {
		if err := d.gateway.Start(ctx); err != nil {
			return err
		}
	}
	var problems []error
	for len(d.live) > 0 {
		s := d.live[0]
		if err := d.stop(ctx, s); err != nil {
			problems = append(problems, fmt.Errorf("stop the session: %w", err))
			d.live = d.live[1:]
		}
	}
	return errors.Join(problems...)
}

// closed proves that nobody listens any more where the gateway did.
func (d *demo) closed() error {
	if d.gateway.Address() == "" {
		return nil
	}
	conn, err := net.DialTimeout("tcp", d.gateway.Address(), time.Second)
	if err == nil {
		conn.Close()
		return fmt.Errorf("something still listens on %s", d.gateway.Address())
	}
	return nil
}

// nothingRuns proves that no process of the demo is left. What is left all the
// same is ended and told.
func (d *demo) nothingRuns(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, goneWithin)
	defer cancel()
	for {
		left, err := leftover(d.temp)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
			continue
		case <-ctx.Done():
		}
		var names []string
		for _, p := range left {
			names = append(names, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				names = append(names, err.Error())
			}
		}
		return fmt.Errorf("still running at the end, and killed: %s", strings.Join(names, ", "))
	}
}

// nothingLies proves that the gateway took its sockets and temporary files
// along. The state itself is ours to remove.
func (d *demo) nothingLies() error {
	var left []string
	scratch := filepath.Join(d.temp, "tmp")
	err := filepath.WalkDir(d.temp, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSocket != 0 || (path != scratch && strings.HasPrefix(path, scratch)) {
			left = append(left, path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at what is left: %w", err)
	}
	if len(left) > 0 {
		return fmt.Errorf("left behind: %s", strings.Join(left, ", "))
	}
	return nil
}

// alive are the processes of all that have not ended.
func alive(all []process.Process) []process.Process {
	var found []process.Process
	for _, p := range all {
		if !p.Ended {
			found = append(found, p)
		}
	}
	return found
}
