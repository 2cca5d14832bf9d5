package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A machine whose kernel lets nobody make user namespaces, as this process's
// children are made to see it: the doctor says so, and the one command that
// helps.
func TestTheDoctorNamesTheCureWhereNoSandboxCanBeMade(t *testing.T) {
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" doctor --json`, self)
	cmd.Env = append(w.env, "PATH=/usr/local/bin:/usr/bin:/bin")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
	}
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if _, ok := errors.AsType[*exec.ExitError](cmd.Run()); !ok {
		t.Fatalf("the doctor finds nothing wrong: %s%s", &out, &complaints)
	}
	var report struct{ Checks []check }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s%s", err, &out, &complaints)
	}
	for _, c := range report.Checks {
		if c.Name != "sandbox" {
			continue
		}
		if c.Verdict != bad || c.Remedy != "sudo sysctl -w user.max_user_namespaces=15000" ||
			!strings.HasPrefix(c.Evidence, "this system keeps programs from making user namespaces") {
			t.Errorf("%+v", c)
		}
		return
	}
	t.Error("the doctor does not speak of the sandbox")
}
