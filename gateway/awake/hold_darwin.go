package awake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// hold runs caffeinate, which keeps the machine from idle sleep until it is
// ended or this process has gone.
func hold(context.Context) (release func() error, err error) {
	cmd := exec.Command("/usr/bin/caffeinate", "-i", "-w", strconv.Itoa(os.Getpid()))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start caffeinate: %w", err)
	}
	return func() error {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		// It was killed, so how it ended says nothing.
		_ = cmd.Wait()
		return nil
	}, nil
}
