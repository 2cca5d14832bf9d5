//go:build linux || darwin

package sandbox

import (
	"encoding/json"
	"io"

	"golang.org/x/sys/unix"
)

// task is the command that a plan is for.
type task struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}

// order is what the launcher says after the plan.
type order string

const (
	orderGo        order = "go"
	orderTerminate order = "terminate"
)

// report is what the stage says after ready.
type report struct {
	Started bool `json:"started,omitempty"`
	// Failure says why the command was not started.
	Failure string `json:"failure,omitempty"`
	// Code and Signal are as in Exit, if Ended.
	Ended  bool `json:"ended,omitempty"`
	Code   int  `json:"code,omitempty"`
	Signal int  `json:"signal,omitempty"`
}

func (r report) exit() Exit {
	if r.Signal != 0 {
		return Exit{Code: -1, Signal: unix.SignalName(unix.Signal(r.Signal))}
	}
	return Exit{Code: r.Code}
}

func encode(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// launchError: the sandbox stands, the command could not be started in it.
type launchError struct{ reason string }

func (e *launchError) Error() string { return e.reason }

// tail keeps the last bytes written to it. Only one goroutine uses it at a
// time: os/exec writes until the process was waited for.
type tail struct{ data []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*tailSize {
		t.data = append(t.data[:0], t.data[len(t.data)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) Bytes() []byte { return t.data[max(0, len(t.data)-tailSize):] }
