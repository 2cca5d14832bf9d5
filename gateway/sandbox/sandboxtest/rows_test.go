package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attempts is the whole table of this system.
var attempts = slices.Concat(controls, reading, writing, processes, network, ownAttempts)

// controls must work, or nothing else here says anything.
var controls = []attempt{
	{id: "C01", what: "arguments arrive as they are", try: func(*ground) error {
		out, err := exec.Command("/bin/echo", "-n", "$(id); `id` && a  b", "").Output()
		if err == nil && string(out) != "$(id); `id` && a  b " {
			err = fmt.Errorf("arrived as %q", out)
		}
		return err
	}},
	{id: "C02", what: "an exit status comes back", try: func(*ground) error {
		var exit *exec.ExitError
		if err := run("sh", "-c", "exit 42"); !errors.As(err, &exit) || exit.ExitCode() != 42 {
			return fmt.Errorf("came back as %v", err)
		}
		return nil
	}},
	{id: "C03", what: "read the session's directory", try: func(g *ground) error { return read(g.work("README")) }},
	{id: "C03a", what: "read elsewhere in the home", try: func(g *ground) error { return read(g.home("readable")) }},
	{id: "C04", what: "write into the own folder", try: func(g *ground) error { return create(g.cache("new")) }},
	{id: "C04a", what: "make, link, rename and remove in it", try: func(g *ground) error {
		a, b := g.cache("tmp/a"), g.cache("tmp/b")
		link := os.Link
		if runtime.GOOS == "darwin" {
			// There a file gets no second name: it could be anybody's.
			link = func(_, b string) error { return os.WriteFile(b, nil, 0o600) }
		}
		return errors.Join(os.WriteFile(a, nil, 0o600), link(a, b), os.Rename(b, a+"c"), os.Chmod(a, 0o700), os.Symlink("a", b),
			os.Remove(a), os.Remove(b), os.Remove(a+"c"))
	}},
	{id: "C05", what: "git status and log of a read-only repository", try: func(g *ground) error {
		return errors.Join(run("git", "-C", g.Work, "status", "--porcelain"), run("git", "-C", g.Work, "log", "-1"))
	}},
	{id: "C05a", what: "git status of a worktree", try: func(g *ground) error { return run("git", "-C", g.home("tree"), "status") }},
	{id: "C06", what: "python", try: func(*ground) error { return run("python3", "-c", "print(1)") }},
	{id: "C07", what: "a pipeline", try: func(g *ground) error {
		return run("sh", "-c", "cat "+g.work("README")+" | tr a-z A-Z | grep -q SPECIAL")
	}},
	{id: "C09", what: "the null device", try: func(*ground) error { return run("sh", "-c", "cat /dev/null >/dev/null 2>&1") }},
	{id: "C10", what: "start own programs", try: func(g *ground) error {
		return errors.Join(os.WriteFile(g.cache("tool"), []byte("#!/bin/sh\nexit 0\n"), 0o700), run(g.cache("tool")))
	}},
}

var reading = []attempt{
	{id: "R01", what: "a credential", want: hidden, try: func(g *ground) error { return read(g.home(".ssh/id")) }},
	{id: "R01a", what: "a hidden folder", want: hidden, try: func(g *ground) error { return list(g.home(".aws")) }},
	{id: "R01b", what: "a hidden file", want: hidden, try: func(g *ground) error { return read(g.home(".netrc")) }},
	{id: "R01c", what: "whether a credential is there", want: hidden, try: func(g *ground) error {
		_, err := os.Lstat(g.home(".aws/credentials"))
		return err
	}},
	{id: "R01d", what: "a credential after giving oneself the right to it", want: hidden, try: func(g *ground) error {
		os.Chmod(g.home(".ssh"), 0o700)
		os.Chmod(g.home(".ssh/id"), 0o600)
		return read(g.home(".ssh/id"))
	}},
	{id: "R02", what: "a credential through a link of the project", want: hidden, try: func(g *ground) error { return read(g.work("link")) }},
	{id: "R02a", what: "the same through a link of one's own", want: hidden, try: func(g *ground) error {
		link := g.cache("tmp/link")
		if err := os.Symlink(g.home(".ssh/id"), link); err != nil {
			return err
		}
		defer os.Remove(link)
		return read(link)
	}},
	{id: "R03", what: "a credential by ..", want: hidden, try: func(g *ground) error {
		return read(g.Work + "/sub/../../.ssh/./id")
	}},
	{id: "R03a", what: "the same relative to the working directory", want: hidden, try: func(*ground) error { return read("../.ssh/id") }},
	{id: "R08", what: "a credential by a hard link to it", want: hidden, try: func(g *ground) error {
		link := g.cache("tmp/hard")
		if err := os.Link(g.home(".ssh/id"), link); err != nil {
			return err
		}
		defer os.Remove(link)
		return read(link)
	}},
	{id: "R09", what: "KNOWN: a hard link to a hidden file, made before, is read", try: func(g *ground) error { return read(g.home("twin")) }},
	{id: "R13", what: "the gateway's state", want: hidden, try: func(g *ground) error { return read(g.State + "/token") }},
	{id: "R14", what: "the environment file of the project", want: hidden, try: func(g *ground) error { return read(g.work(".env")) }},
	{id: "R14a", what: "a hidden folder of the project", want: hidden, try: func(g *ground) error { return read(g.work("private/key")) }},
	{id: "R14b", what: "the same by a program", want: want{"linux": says("Permission denied"), "darwin": says("not permitted")},
		try: func(g *ground) error { return run("cat", g.work(".env")) }},
	{id: "R22", what: "a descriptor of the gateway", want: want{"linux": errnos(syscall.EBADF), "darwin": errnos(syscall.EBADF)},
		try: func(g *ground) error {
			_, err := unix.FcntlInt(uintptr(g.Descriptor), unix.F_GETFL, 0)
			return err
		}},
	{id: "R23", what: "a variable of the gateway", want: anyhow, try: func(*ground) error {
		if os.Getenv(secretName) == "" {
			return errors.New("it is not there")
		}
		return nil
	}},
}

var writing = []attempt{
	{id: "W01", what: "a new file in the session's directory", want: readOnly, try: func(g *ground) error { return create(g.work("new")) }},
	{id: "W01a", what: "a file that is there", want: readOnly, try: func(g *ground) error { return overwrite(g.work("victim")) }},
	{id: "W01b", what: "a new folder", want: readOnly, try: func(g *ground) error {
		return errors.Join(os.Mkdir(g.work("folder"), 0o700), os.Remove(g.work("folder")))
	}},
	{id: "W01c", what: "a new link", want: readOnly, try: func(g *ground) error {
		return errors.Join(os.Symlink("README", g.work("newlink")), os.Remove(g.work("newlink")))
	}},
	{id: "W01d", what: "cut a file", want: readOnly, try: func(g *ground) error { return os.Truncate(g.work("victim"), 1) }},
	{id: "W02", what: "a git hook", want: readOnly, try: func(g *ground) error { return create(g.work(".git/hooks/post-commit")) }},
	{id: "W03", what: "a program in the git configuration", want: want{"linux": says("Read-only file system"), "darwin": says("not permitted")},
		try: func(g *ground) error { return run("git", "-C", g.Work, "config", "core.fsmonitor", "false") }},
	{id: "W04", what: "a shell's start file", want: readOnly, try: func(g *ground) error { return overwrite(g.home(".bashrc")) }},
	{id: "W04a", what: "a program on the PATH", want: readOnly, try: func(g *ground) error { return create(g.home("bin/ls")) }},
	{id: "W04b", what: "something that starts at login", want: readOnly, try: func(g *ground) error {
		return errors.Join(os.Mkdir(g.home(".config/autostart"), 0o700), os.Remove(g.home(".config/autostart")))
	}},
	{id: "W06", what: "the mode of a file", want: readOnly, try: func(g *ground) error { return os.Chmod(g.work("victim"), 0o640) }},
	{id: "W06a", what: "the times of a file", want: readOnly, try: func(g *ground) error {
		return os.Chtimes(g.work("victim"), time.Unix(1, 0), time.Unix(1, 0))
	}},
	{id: "W06b", what: "an attribute of a file", want: readOnly, try: func(g *ground) error {
		return unix.Setxattr(g.work("victim"), "user.deckhand", []byte("x"), 0)
	}},
	{id: "W06c", what: "the owner of a file", want: readOnly, try: func(g *ground) error {
		return os.Chown(g.work("victim"), os.Getuid(), os.Getgid())
	}},
	{id: "W07", what: "rename a file", want: readOnly, try: func(g *ground) error {
		return errors.Join(os.Rename(g.work("victim"), g.work("other")), os.Rename(g.work("other"), g.work("victim")))
	}},
	{id: "W07a", what: "remove a file", want: readOnly, try: func(g *ground) error {
		return errors.Join(os.Remove(g.work("victim")), os.WriteFile(g.work("victim"), nil, 0o600))
	}},
	{id: "W07b", what: "a second name for a file", want: readOnly, try: func(g *ground) error {
		return errors.Join(os.Link(g.work("victim"), g.work("second")), os.Remove(g.work("second")))
	}},
	{id: "W07c", what: "a file by a second name of it in the own folder", want: want{"linux": errnos(syscall.EXDEV), "darwin": errnos(syscall.EPERM)},
		try: func(g *ground) error {
			link := g.cache("tmp/alias")
			if err := os.Link(g.work("victim"), link); err != nil {
				return err
			}
			defer os.Remove(link)
			return overwrite(link)
		}},
	{id: "W07d", what: "take a file out of the session's directory", want: want{"linux": errnos(syscall.EXDEV, syscall.EROFS), "darwin": errnos(syscall.EPERM)},
		try: func(g *ground) error {
			return errors.Join(os.Rename(g.work("victim"), g.cache("tmp/victim")), os.Rename(g.cache("tmp/victim"), g.work("victim")))
		}},
	{id: "W08", what: "a file through a link of one's own", want: readOnly, try: func(g *ground) error {
		link := g.cache("tmp/way")
		if err := os.Symlink(g.work("victim"), link); err != nil {
			return err
		}
		defer os.Remove(link)
		return overwrite(link)
	}},
	{id: "W10", what: "rename a hidden folder", want: want{"linux": errnos(syscall.EROFS, syscall.EBUSY), "darwin": errnos(syscall.EPERM)},
		try: func(g *ground) error {
			return errors.Join(os.Rename(g.home(".aws"), g.home("aws")), os.Rename(g.home("aws"), g.home(".aws")))
		}},
	{id: "W10a", what: "rename what a hidden folder is in", want: want{"linux": errnos(syscall.EROFS, syscall.EBUSY), "darwin": errnos(syscall.EPERM)},
		try: func(g *ground) error {
			return errors.Join(os.Rename(g.Home, g.Home+"x"), os.Rename(g.Home+"x", g.Home))
		}},
	{id: "W10b", what: "a file in a hidden folder", want: hidden, try: func(g *ground) error { return create(g.home(".ssh/authorized_keys")) }},
	{id: "W12", what: "the gateway's state", want: hidden, try: func(g *ground) error { return overwrite(g.State + "/token") }},
	{id: "W13", what: "the temporary directory of the host", want: anyhow, free: through,
		try:  func(g *ground) error { return os.WriteFile(filepath.Join(g.Temp, "new"), nil, 0o600) },
		left: func(g *ground) error { return absent(filepath.Join(g.Temp, "new")) }},
	{id: "W19", what: "what a program in git's arguments does", want: notThere,
		try: func(g *ground) error {
			run("git", "-C", g.Work, "-c", "core.fsmonitor="+g.work("evil"), "status")
			_, err := os.Stat(g.work("pwned"))
			return err
		}, left: func(g *ground) error { return absent(g.work("pwned")) }},
	{id: "W19a", what: "what a program in an alias of git's does", want: notThere,
		try: func(g *ground) error {
			os.Remove(g.work("pwned"))
			run("git", "-C", g.Work, "-c", "alias.x=!"+g.work("evil"), "x")
			_, err := os.Stat(g.work("pwned"))
			return err
		}, left: func(g *ground) error { return absent(g.work("pwned")) }},
}

var processes = []attempt{
	{id: "P01", what: "signal a process of the host", want: noProcess, try: func(g *ground) error { return syscall.Kill(g.Process, 0) }},
	{id: "P01a", what: "signal its group", want: noProcess, free: maybe, why: "it leads no group",
		try: func(g *ground) error { return syscall.Kill(-g.Process, 0) }},
	{id: "P01b", what: "the priority of a process of the host", want: noProcess, try: func(g *ground) error {
		return syscall.Setpriority(syscall.PRIO_PROCESS, g.Process, 19)
	}},
	{id: "P02", what: "signal everything", alone: true, free: never, why: "it would end everything of this user's",
		// What counts is that the process outside is alive after.
		try: func(*ground) error { return ignoreNoProcess(syscall.Kill(-1, everySignal)) }},
	{id: "P18", what: "arguments are never a shell's", try: func(*ground) error {
		out, err := exec.Command("/bin/echo", "$(touch x)", ";", "touch", "x").Output()
		if err == nil && !bytes.HasPrefix(out, []byte("$(touch x) ; touch x")) {
			err = fmt.Errorf("printed %q", out)
		}
		return err
	}},
	{id: "P19", what: "a hidden program by its path", want: hidden, try: func(g *ground) error { return run(g.home("bin/model")) }},
	{id: "P19a", what: "the same by PATH", want: anyhow, try: func(g *ground) error {
		return run("sh", "-c", "PATH="+g.home("bin")+":$PATH; model")
	}},
	{id: "P19b", what: "the same as a script", want: anyhow, try: func(g *ground) error { return run("sh", g.home("bin/model")) }},
	{id: "P19c", what: "a copy of it", want: anyhow, try: func(g *ground) error {
		return run("sh", "-c", "cp "+g.home("bin/model")+" "+g.cache("copy")+" && "+g.cache("copy"))
	}},
}

func ignoreNoProcess(err error) error {
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}
