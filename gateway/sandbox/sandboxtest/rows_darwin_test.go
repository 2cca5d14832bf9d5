package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ownAttempts are about what only macOS has. Many are scripts, as the programs
// are what a command would try.
var ownAttempts = []attempt{
	{id: "C20", what: "who the user is", try: sh(`test -n "$(id -un)" && cd ~ && pwd`)},
	{id: "C21", what: "what the machine is", try: sh(`uname -a && getconf _NPROCESSORS_ONLN`)},
	{id: "C22", what: "standard input by its path", try: sh(`echo x | cat /dev/stdin`)},
	{id: "C23", what: "random bytes", try: sh(`head -c 8 /dev/urandom`)},
	{id: "C24", what: "an own child is signalled", try: sh(`sleep 60 & kill $! && ! wait $!`)},
	{id: "C25", what: "an environment file that is made to be shared", try: func(g *ground) error {
		return read(g.work(".env.example"))
	}},

	{id: "R14c", what: "an environment file that nobody named", want: hidden, try: func(g *ground) error { return read(g.work(".env.local")) }},
	{id: "R14d", what: "the same in another case", want: hidden, try: func(g *ground) error { return read(g.work(".ENV.Production")) }},
	{id: "M08", what: "a credential by the data volume", want: hidden, try: func(g *ground) error {
		return read("/System/Volumes/Data" + g.home(".ssh/id"))
	}},
	{id: "M09", what: "a credential by its number", want: anyhow, try: func(g *ground) error { return read("/.vol/" + g.Number) }},
	{id: "M10", what: "a credential by its name in another case", want: anyhow, free: maybe, why: "a volume may tell case apart",
		try: func(g *ground) error { return read(g.home(".SSH/ID")) }},
	{id: "M12", what: "a clone of a credential", want: anyhow, try: func(g *ground) error {
		return run("cp", "-c", g.home(".ssh/id"), g.cache("clone"))
	}},
	{id: "M23", what: "the shared temporary directory", want: hidden, try: func(g *ground) error { return read(filepath.Join(g.Temp, "file")) }},
	{id: "M23a", what: "the user's temporary directory", want: anyhow, try: sh(`ls "$(getconf DARWIN_USER_TEMP_DIR)"`)},

	{id: "W06d", what: "the flags of a file", want: readOnly, try: func(g *ground) error {
		return errors.Join(unix.Chflags(g.work("victim"), unix.UF_NODUMP), unix.Chflags(g.work("victim"), 0))
	}},
	{id: "W20", what: "a set-user-id program of one's own", want: forbidden, try: func(g *ground) error {
		if err := os.WriteFile(g.cache("setuid"), nil, 0o700); err != nil {
			return err
		}
		return unix.Chmod(g.cache("setuid"), 0o4755)
	}},
	{id: "W21", what: "put a link in the place of the own folder", want: anyhow, free: never, why: "the folder would be gone",
		try: func(g *ground) error {
			return errors.Join(os.Rename(g.Cache, g.Cache+"x"), os.Symlink("/", g.Cache))
		}},
	{id: "M24", what: "a file in the user's temporary directory", want: anyhow, try: sh(`f="$(getconf DARWIN_USER_TEMP_DIR)deckhand-test"; : > "$f" && rm "$f"`)},

	{id: "M01", what: "open an application", want: anyhow, free: never, why: "it would open", try: sh(`open -g -j -a Calculator`)},
	{id: "M02", what: "AppleScript", want: anyhow, try: sh(`osascript -e 'return 1'`)},
	{id: "M02a", what: "a shell by AppleScript", want: anyhow, try: sh(`osascript -e 'do shell script "true"'`)},
	{id: "M02b", what: "another program by a copy of osascript", want: anyhow, free: never, why: "it would ask the user",
		try: sh(`cp /usr/bin/osascript "$TMPDIR/o" && "$TMPDIR/o" -e 'tell application "Finder" to get name'`)},
	{id: "M03", what: "the list of keychains", want: anyhow, try: sh(`security list-keychains`)},
	{id: "M03a", what: "the same by a copy", want: anyhow, free: never, why: "it may ask the user",
		try: sh(`cp /usr/bin/security "$TMPDIR/s" && "$TMPDIR/s" find-generic-password -s deckhand-test; test $? -eq 44`)},
	{id: "M04", what: "ask launchd", want: anyhow, try: sh(`launchctl print user/$(id -u)`)},
	{id: "M05", what: "a preference", want: anyhow, try: sh(`defaults write deckhand.test x y && defaults delete deckhand.test`)},
	{id: "M07", what: "a sandbox of one's own making", want: anyhow, try: sh(`/usr/bin/sandbox-exec -p '(version 1)(allow default)' /usr/bin/true`)},
	{id: "M14", what: "the list of processes", want: anyhow, try: sh(`ps -p 1 -o comm=`)},
	{id: "M14a", what: "the environment of a process of the host", want: anyhow, try: func(g *ground) error {
		_, err := unix.SysctlRaw("kern.procargs2", g.Process)
		return err
	}},
	{id: "M14b", what: "the entry of a process of the host", want: anyhow, try: func(g *ground) error {
		_, err := unix.SysctlKinfoProc("kern.proc.pid", g.Process)
		return err
	}},
	{id: "M15", what: "look into a process of the host", want: anyhow, free: maybe, why: "it may need a right of a developer's",
		try: func(g *ground) error {
			return run("/usr/bin/sample", fmt.Sprint(g.Process), "1", "-file", g.cache("sample"))
		}},
	{id: "M16", what: "ask for a name of the network", want: anyhow, free: maybe, why: "not every machine has a network",
		try: sh(`dscacheutil -q host -a name example.com | grep -q ip`)},
	{id: "M17", what: "listen on the loopback", want: forbidden, try: func(*ground) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}},
	{id: "M18", what: "the agent that holds the user's keys", want: anyhow, free: maybe, why: "not every user has one", try: func(*ground) error {
		sockets, _ := filepath.Glob("/private/tmp/com.apple.launchd.*/Listeners")
		if len(sockets) == 0 {
			return errors.New("none is seen")
		}
		return hear("unix", sockets[0])
	}},
	{id: "M19", what: "mount an image", want: anyhow, free: never, why: "it would stay mounted",
		try: sh(`hdiutil create -size 1m -fs HFS+ "$TMPDIR/i.dmg" && hdiutil attach -nobrowse "$TMPDIR/i.dmg"`)},
	{id: "M20", what: "a control socket of the kernel", want: anyhow, free: maybe, why: "some machines keep users from it", try: func(*ground) error {
		fd, err := unix.Socket(unix.AF_SYSTEM, unix.SOCK_DGRAM, 2)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{id: "M25", what: "something to run later", want: anyhow, free: never, why: "it would change the user's table",
		try: sh(`echo '# deckhand' | crontab -`)},
	{id: "M27", what: "what Spotlight knows", want: anyhow, free: maybe, why: "not every machine has an index",
		try: sh(`mdfind -count 'kMDItemFSName == "*"' | grep -qv '^0$'`)},
	{id: "M27a", what: "a picture of the screen", want: anyhow, free: never, why: "it would ask the user", try: sh(`screencapture -x "$TMPDIR/a.png"`)},
	{id: "M30", what: "the machine's settings", want: anyhow, try: sh(`nvram -p | grep -q .`)},
	{id: "M30a", what: "the machine's serial number", want: anyhow, try: sh(`ioreg -l | grep -q IOPlatformSerialNumber`)},
	{id: "P14", what: "the terminal", want: anyhow, free: maybe, why: "there may be none", try: func(*ground) error { return overwrite("/dev/tty") }},
}

// sh runs a script.
func sh(script string) func(*ground) error {
	return func(*ground) error {
		cmd := exec.Command("/bin/sh", "-c", script)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	}
}
