package sandbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// tied is a stage with the tree below it, held together by a mark. It is the
// tree of a Process, and exists before it.
type tied struct {
	cmd        *exec.Cmd
	ended      chan struct{} // closed when the stage is gone and was waited for
	complaints tail
	mark       string

	orders  *os.File // the lifeline
	pipe    *os.File // of reports
	reports *json.Decoder

	killing sync.WaitGroup
	kills   sync.Once
}

// kill begins the end of the tree; wait tells when it is complete.
func (t *tied) kill() {
	t.kills.Do(func() { t.killing.Go(t.finish) })
}

// terminate needs no answer: if the stage is gone, so is the command.
func (t *tied) terminate() { encode(t.orders, orderTerminate) }

// finish ends everything that bears the mark, the stage last: at the end of its
// lifeline it kills too, in one call for all, which a tree that forks fast
// cannot outrun. A stage that the command stopped or killed is not needed.
func (t *tied) finish() {
	t.orders.Close()
	sweep(t.mark, t.cmd.Process.Pid)
	t.cmd.Process.Kill() // an error means that it is gone
	sweep(t.mark, 0)
}

// wait returns when the stage and everything in the sandbox is gone, and says
// how the command ended. It is called once.
func (t *tied) wait() Exit {
	exit := Exit{Code: -1, Signal: "SIGKILL"}
	var r report
	if t.reports.Decode(&r) == nil && r.Ended {
		exit = r.exit()
	}
	t.finish()
	<-t.ended
	t.kills.Do(func() {}) // none begins after this
	t.killing.Wait()
	t.pipe.Close()
	return exit
}

// sweepPause grows to this between two looks at a tree that does not end.
const sweepPause = 50 * time.Millisecond

// sweep kills what bears the mark, except one process, until two looks find
// nothing: one may come between a fork and its child's entry in the list. It
// does not give up, because nobody may be told that the tree is gone before.
func sweep(mark string, except int) {
	pause := time.Millisecond
	for quiet := 0; quiet < 2; {
		found, err := bearers(mark, except)
		if err == nil && len(found) == 0 {
			quiet++
			continue
		}
		quiet = 0
		for _, pid := range found {
			unix.Kill(pid, unix.SIGKILL) // an error means that it is gone
		}
		time.Sleep(pause)
		pause = min(2*pause, sweepPause)
	}
}
