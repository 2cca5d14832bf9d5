package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A probe is a small program that tries something and prints, as JSON, how it
// went. The tests run it inside and outside of a sandbox.
var probes = map[string]func(args []string) (any, error){
	// files makes each attempt of the form "verb path".
	"files": func(args []string) (any, error) {
		results := map[string]string{}
		for _, attempt := range args {
			results[attempt] = attemptFile(attempt)
		}
		return results, nil
	},
	// filesLater is files once standard input has ended; it says that it waits.
	"filesLater": func(args []string) (any, error) {
		fmt.Println("ready")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return nil, err
		}
		results := map[string]string{}
		for _, attempt := range args {
			results[attempt] = attemptFile(attempt)
		}
		return results, nil
	},
	// list names what is in a directory.
	"list": func(args []string) (any, error) {
		entries, err := os.ReadDir(args[0])
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, nil
	},
	// calls makes raw system calls and gives their error numbers.
	"calls": func(args []string) (any, error) {
		var calls []rawCall
		if err := json.Unmarshal([]byte(args[0]), &calls); err != nil {
			return nil, err
		}
		numbers := []int{}
		for _, c := range calls {
			_, _, errno := syscall.RawSyscall6(uintptr(c.Number), uintptr(c.Args[0]), uintptr(c.Args[1]),
				uintptr(c.Args[2]), uintptr(c.Args[3]), uintptr(c.Args[4]), uintptr(c.Args[5]))
			numbers = append(numbers, int(errno))
		}
		return numbers, nil
	},
	// sockets makes sockets "family type protocol" and gives the error numbers.
	"sockets": func(args []string) (any, error) {
		numbers := []int{}
		for _, arg := range args {
			var family, kind, protocol int
			if _, err := fmt.Sscan(arg, &family, &kind, &protocol); err != nil {
				return nil, err
			}
			fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
			if err == nil {
				unix.Close(fd)
			}
			numbers = append(numbers, errorNumber(err))
		}
		return numbers, nil
	},
	// pairs makes socket pairs of unix sockets of the given types.
	"pairs": func(args []string) (any, error) {
		numbers := []int{}
		for _, arg := range args {
			kind, err := strconv.Atoi(arg)
			if err != nil {
				return nil, err
			}
			fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				unix.Close(fds[0])
				unix.Close(fds[1])
			}
			numbers = append(numbers, errorNumber(err))
		}
		return numbers, nil
	},
	// namespace starts a program in a namespace of the given flags.
	"namespace": func(args []string) (any, error) {
		flags, err := strconv.ParseUint(args[0], 0, 64)
		if err != nil {
			return nil, err
		}
		cmd := exec.Command("/proc/self/exe", "probe", "list", "/")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: uintptr(flags)}
		return errorNumber(cmd.Run()), nil
	},
	// status gives lines of /proc/self/status, and the limits.
	"status": func([]string) (any, error) {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return nil, err
		}
		lines := map[string]string{}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			lines[name] = strings.TrimSpace(value)
		}
		for name, resource := range map[string]int{"core": unix.RLIMIT_CORE, "processes": unix.RLIMIT_NPROC} {
			var limit unix.Rlimit
			if err := unix.Getrlimit(resource, &limit); err != nil {
				return nil, err
			}
			lines[name] = fmt.Sprint(limit.Max)
		}
		for name, path := range map[string]string{"tmp": "/tmp", "shm": "/dev/shm"} {
			var fs unix.Statfs_t
			if err := unix.Statfs(path, &fs); err != nil {
				return nil, err
			}
			lines[name] = fmt.Sprint(fs.Blocks * uint64(fs.Bsize))
		}
		return lines, nil
	},
	// surroundings gives what a program finds without looking for it.
	"surroundings": func(args []string) (any, error) {
		cwd, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		hostname, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		var names []string
		interfaces, err := net.Interfaces()
		for _, i := range interfaces {
			names = append(names, i.Name)
		}
		return surroundings{Args: args, Env: os.Environ(), Cwd: cwd, Hostname: hostname, Interfaces: names}, err
	},
	// writableProc opens everything in /proc that is no process's for writing,
	// writes nothing, and names what could be opened.
	"writableProc": func([]string) (any, error) {
		open := []string{}
		err := filepath.WalkDir("/proc", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return fs.SkipDir
			}
			if d.IsDir() && path != "/proc" && filepath.Dir(path) == "/proc" {
				if _, err := strconv.Atoi(d.Name()); err == nil {
					return fs.SkipDir
				}
			}
			if d.Type().IsRegular() {
				if fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
					unix.Close(fd)
					open = append(open, path)
				}
			}
			return nil
		})
		return open, err
	},
	// dial connects "network address" and reads a line.
	"dial": func(args []string) (any, error) {
		c, err := net.DialTimeout(args[0], args[1], 5*time.Second)
		if err != nil {
			return "", nil
		}
		defer c.Close()
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.TrimSpace(line), nil
	},
	// exit ends with a status or by a signal.
	"exit": func(args []string) (any, error) {
		if n, err := strconv.Atoi(args[0]); err == nil {
			os.Exit(n)
		}
		unix.Kill(os.Getpid(), unix.SignalNum(args[0]))
		select {}
	},
	// say copies standard input to standard output and error.
	"say": func([]string) (any, error) {
		text, err := io.ReadAll(os.Stdin)
		fmt.Fprintf(os.Stdout, "out %s\n", text)
		fmt.Fprintf(os.Stderr, "err %s\n", text)
		return nil, err
	},
	// polite says that it is there and ends with 7 when it is asked to end.
	"polite": func([]string) (any, error) {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, unix.SIGTERM)
		fmt.Println("ready")
		<-asked
		os.Exit(7)
		return nil, nil
	},
	// silent closes its standard output and then stays until it is asked to end.
	"silent": func([]string) (any, error) {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, unix.SIGTERM)
		if err := os.Stdout.Close(); err != nil {
			return nil, err
		}
		<-asked
		return nil, nil
	},
	// tree starts processes that left its session and ignore SIGTERM; all hold
	// the lock. It says so, and stays too.
	"tree": func(args []string) (any, error) {
		lock, err := takeLock(args[0])
		if err != nil {
			return nil, err
		}
		for range 4 {
			cmd := exec.Command("/proc/self/exe", "stage", lingerArg)
			cmd.ExtraFiles = []*os.File{lock}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				return nil, err
			}
		}
		fmt.Println("ready")
		linger()
		return nil, nil
	},
}

type rawCall struct {
	Name   string    `json:"name"`
	Number uint32    `json:"number"`
	Args   [6]uint64 `json:"args"`
}

type surroundings struct {
	Args, Env     []string
	Cwd, Hostname string
	Interfaces    []string
}

func takeLock(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return lock, unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// attemptFile tries one thing with one path; "" means that it worked.
func attemptFile(attempt string) string {
	verb, path, _ := strings.Cut(attempt, " ")
	err := errors.New("no such attempt")
	switch verb {
	case "read":
		_, err = os.ReadFile(path)
	case "look":
		_, err = os.Lstat(path)
	case "follow":
		_, err = os.Stat(path)
	case "create":
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = errors.Join(f.Close(), os.Remove(path))
		}
	case "open-to-write":
		var fd int
		if fd, err = unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			err = unix.Close(fd)
		}
	case "open-to-read-and-write":
		var fd int
		if fd, err = unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
			err = unix.Close(fd)
		}
	case "mode":
		err = os.Chmod(path, 0o640)
	case "times":
		err = os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
	case "attribute":
		err = unix.Setxattr(path, "user.deckhand", []byte("x"), 0)
	case "rename":
		if err = os.Rename(path, path+".new"); err == nil {
			err = os.Rename(path+".new", path)
		}
	case "link":
		if err = os.Link(path, path+".new"); err == nil {
			err = os.Remove(path + ".new")
		}
	case "device":
		if err = unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err == nil {
			err = os.Remove(path)
		}
	case "signal":
		pid, _ := strconv.Atoi(path)
		err = unix.Kill(pid, 0)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func errorNumber(err error) int {
	if err == nil {
		return 0
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return int(errno)
	}
	return -1
}

func probeMain(name string, args []string) int {
	probe, ok := probes[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no probe", name)
		return 1
	}
	return printed(probe(args))
}

// printed prints what a program of the tests found.
func printed(result any, err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if result != nil {
		if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			return 1
		}
	}
	return 0
}
