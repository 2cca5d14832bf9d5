package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// TestWhereUserNamespacesAreOff is a prepared machine: the kernel is told, for
// this test's own user namespace and what is below, that no other may be made.
// There the real bwrap cannot make a sandbox, so nothing runs, and the reason
// comes with its cure.
func TestWhereUserNamespacesAreOff(t *testing.T) {
	dir := dirOutsideTmp(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" refused "$1"`, executable(t), dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	refusals := decode[map[string]string](t, string(out))
	if len(refusals) != 3 {
		t.Errorf("%d refusals: %v", len(refusals), refusals)
	}
	for what, said := range refusals {
		if !strings.HasSuffix(said, "; to cure it: sudo sysctl -w user.max_user_namespaces=15000") {
			t.Errorf("%s: %s", what, said)
		}
	}
	if _, err := os.Stat(dir + "/ran"); err == nil {
		t.Error("something ran unconfined")
	}
}

func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// refused tries to run something in every way, and returns what was said.
func refused(dir string) (map[string]string, error) {
	l, err := newLauncher()
	if err != nil {
		return nil, err
	}
	said := map[string]string{"self-test": detail(l.SelfTest(context.Background()))}
	for name, view := range map[string]View{"base": BaseSystem, "whole": WholeSystem} {
		p, err := l.Start(context.Background(), Policy{View: view, Writable: []string{dir}},
			Command{Path: "/bin/sh", Args: []string{"-c", ": >" + dir + "/ran"}})
		if err == nil {
			p.Wait()
		}
		said[name] = detail(err)
	}
	return said, nil
}

func detail(err error) string {
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok || refusal.Code != turn.SandboxUnavailable {
		return "no refusal"
	}
	return refusal.Detail
}
