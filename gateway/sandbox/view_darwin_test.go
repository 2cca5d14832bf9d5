package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// attempt is a script of /bin/sh. It succeeds or fails by its status.
type attempt struct {
	// row is the row of the corpus of attempts, or a letter of its kind.
	row, script string
	// works: confined too. All others have to fail.
	works bool
	// apart: not to be tried outside of a sandbox, where it would open a window,
	// ask the user something, or need what this machine may not have.
	apart bool
}

// The places that scripts name: WS is a project, SECRET a hidden directory with
// the file id, SCRATCH is writable, TCP and SOCKET are listeners of the host,
// HOST is a process outside.
var attempts = []attempt{
	{row: "C01", script: `test "$0" = sh`, works: true},
	{row: "C03", script: `cat "$WS/README"`, works: true},
	{row: "C04", script: `echo x > "$SCRATCH/x" && cat "$SCRATCH/x" && rm "$SCRATCH/x"`, works: true},
	{row: "C05", script: `cp /bin/echo "$SCRATCH/tool" 2>/dev/null; mkdir "$SCRATCH/d" && mv "$SCRATCH/d" "$SCRATCH/e" && rmdir "$SCRATCH/e"`, works: true},
	{row: "C06", script: `ls / && ls -la "$WS"`, works: true},
	{row: "C07", script: `seq 100 | sort -rn | head -1 | grep -q 100`, works: true},
	{row: "C08", script: `: < /dev/null > /dev/null && head -c 8 /dev/urandom > /dev/null`, works: true},
	{row: "C09", script: `test "$(id -un)" = "$WHO"`, works: true},
	{row: "C10", script: `echo x | cat /dev/stdin`, works: true},
	{row: "C11", script: `cd "$WS" && test "$(pwd -P)" = "$WS"`, works: true},
	{row: "C12", script: `cat "$WS/.env.example"`, works: true},
	{row: "C13", script: `sleep 60 & kill $! && ! wait $!`, works: true},
	{row: "C14", script: `date && uname -a && getconf _NPROCESSORS_ONLN`, works: true},

	{row: "R01", script: `cat "$SECRET/id"`},
	{row: "R02", script: `cat "$WS/link-to-secret"`},
	{row: "R03", script: `cat "$WS/../secret/id"`},
	{row: "R05", script: `ls "$SECRET"`},
	{row: "R10", script: `mv "$SECRET" "$SCRATCH/taken" && mv "$SCRATCH/taken" "$SECRET"`},
	{row: "R14", script: `cat "$WS/.env"`},
	{row: "R14", script: `cat "$WS/.ENV.Local"`},
	{row: "M08", script: `cat "/System/Volumes/Data$SECRET/id"`},
	{row: "M09", script: `cat "/.vol/$VOL"`},
	{row: "M10", script: `cat "$WS/../SECRET/ID"`, apart: true}, // a volume may tell case apart
	{row: "M12", script: `cp -c "$SECRET/id" "$SCRATCH/clone"`},
	{row: "M23", script: `cat /private/tmp/deckhand-verify`},
	{row: "M23", script: `ls /private/var/folders`},

	{row: "W01", script: `echo x > "$WS/new" && rm "$WS/new"`},
	{row: "W02", script: `echo x > "$WS/.git/hooks/pre-commit" && rm "$WS/.git/hooks/pre-commit"`},
	{row: "W06", script: `chmod 644 "$WS/README"`},
	{row: "W06", script: `touch "$WS/README"`},
	{row: "W06", script: `xattr -w deckhand.test x "$WS/README"`},
	{row: "W06", script: `chflags nodump "$WS/README"`},
	{row: "W07", script: `mv "$WS/README" "$WS/README2" && mv "$WS/README2" "$WS/README"`},
	{row: "W07", script: `ln "$WS/README" "$SCRATCH/second" && rm "$SCRATCH/second"`},
	{row: "W08", script: `ln -s "$WS" "$SCRATCH/ws"; echo x > "$SCRATCH/ws/new2" && rm "$SCRATCH/ws/new2"`},
	{row: "W13", script: `echo x > /private/tmp/deckhand-verify.new && rm /private/tmp/deckhand-verify.new`},
	{row: "M24", script: `f="$TEMP/deckhand-verify.new"; echo x > "$f" && rm "$f"`},
	{row: "M13", script: `chmod 4755 "$SCRATCH/setuid"`},
	{row: "W00", script: `rmdir "$SCRATCH/../empty" && mkdir "$SCRATCH/../empty"`},

	{row: "M01", script: `open -g -j -a Calculator`, apart: true},
	{row: "M02", script: `osascript -e 'return 1'`},
	{row: "M02", script: `osascript -e 'do shell script "true"'`},
	{row: "M02", script: `cp /usr/bin/osascript "$SCRATCH/o" && "$SCRATCH/o" -e 'tell application "Finder" to get name'`, apart: true},
	{row: "M03", script: `security list-keychains`},
	{row: "M03", script: `cp /usr/bin/security "$SCRATCH/s" && "$SCRATCH/s" show-keychain-info`, apart: true},
	{row: "M04", script: `launchctl print user/$(id -u)`},
	{row: "M05", script: `defaults write com.deckhand.verify x y && defaults delete com.deckhand.verify`},
	{row: "M07", script: `/usr/bin/sandbox-exec -p '(version 1)(allow default)' /usr/bin/true`},
	{row: "M14", script: `ps -p 1 -o comm=`},
	{row: "M16", script: `dscacheutil -q host -a name example.com | grep -q ip`, apart: true},
	{row: "M16", script: `nc -z -w 3 1.1.1.1 53`, apart: true},
	{row: "M17", script: `nc -z -w 3 127.0.0.1 "$TCP"`},
	{row: "M17", script: `nc -l 127.0.0.1 0 < /dev/null & p=$!; sleep 1; kill $p`},
	{row: "M18", script: `nc -U "$SOCKET" < /dev/null`},
	{row: "M19", script: `hdiutil create -size 1m -fs HFS+ "$SCRATCH/i.dmg" && hdiutil attach "$SCRATCH/i.dmg"`, apart: true},
	{row: "M25", script: `crontab -l; test $? -le 1 && echo | crontab -`, apart: true},
	{row: "M27", script: `mdfind -count 'kMDItemFSName == "id"' | grep -qv '^0$'`, apart: true},
	{row: "M27", script: `screencapture -x "$SCRATCH/a.png"`, apart: true},
	{row: "M30", script: `nvram -p | grep -q .`},
	{row: "M30", script: `ioreg -l | grep -q IOPlatformSerialNumber`},
	{row: "P01", script: `kill -0 "$HOST"`},
	{row: "P14", script: `: < /dev/tty`, apart: true},
}

// TestAttemptsOfCommands makes every attempt in a sandbox, and those that fail
// there outside of one: what fails outside too would prove nothing.
func TestAttemptsOfCommands(t *testing.T) {
	dir := ground(t)
	place := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"ws/README": "read me", "ws/.env": "secret", "ws/.ENV.Local": "secret",
		"ws/.env.example": "EXAMPLE=", "secret/id": "secret", "scratch/setuid": ""} {
		put(t, place(name), text)
	}
	for _, name := range []string{"ws/.git/hooks", "empty"} {
		if err := os.MkdirAll(place(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret/id", place("ws/link-to-secret")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/private/tmp/deckhand-verify", []byte("shared"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove("/private/tmp/deckhand-verify") })
	var id unix.Stat_t
	if err := unix.Stat(place("secret/id"), &id); err != nil {
		t.Fatal(err)
	}
	who, err := exec.Command("/usr/bin/id", "-un").Output()
	if err != nil {
		t.Fatal(err)
	}
	tcp, socket := listening(t, "tcp", "127.0.0.1:0"), listening(t, "unix", filepath.Join(dir, "s"))
	_, port, _ := net.SplitHostPort(tcp)
	env := []string{
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + place("scratch"), "TMPDIR=" + place("scratch"), "TEMP=" + os.TempDir(),
		"WS=" + place("ws"), "SECRET=" + place("secret"), "SCRATCH=" + place("scratch"), "SOCKET=" + socket, "TCP=" + port,
		fmt.Sprintf("VOL=%d/%d", id.Dev, id.Ino), fmt.Sprintf("HOST=%d", os.Getpid()), "WHO=" + strings.TrimSpace(string(who)),
	}
	l := launcher(t)
	policy := Policy{View: WholeSystem, Writable: []string{place("scratch")}, Hidden: []string{place("secret")}, Network: PrivateLoopback}
	for i, a := range attempts {
		t.Run(fmt.Sprintf("%s-%d", a.row, i), func(t *testing.T) {
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			p, err := l.Start(t.Context(), policy, Command{Path: "/bin/sh", Args: []string{"-c", a.script, "sh"}, Env: env,
				Dir: place("ws"), Stdout: out, Stderr: out})
			if err != nil {
				t.Fatal(err)
			}
			exit := p.Wait()
			said, _ := os.ReadFile(out.Name())
			if (exit == Exit{}) != a.works {
				t.Errorf("confined: %+v for %s\n%s", exit, a.script, said)
			}
			if a.works || a.apart {
				return
			}
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", a.script, "sh")
			cmd.Env, cmd.Dir = env, place("ws")
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("outside it fails too, and proves nothing: %v for %s\n%s", err, a.script, said)
			}
		})
	}
}

// listening is an address of the host at which somebody answers.
func listening(t *testing.T, network, addr string) string {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go acceptAll(l)
	return l.Addr().String()
}

// The port of a run is the only one that it can reach [M17].
func TestOnlyTheOwnPortIsReached(t *testing.T) {
	l := launcher(t)
	_, third, _ := net.SplitHostPort(listening(t, "tcp", "127.0.0.1:0"))
	script := `nc -z -w 3 127.0.0.1 "$1" && ! nc -z -w 3 127.0.0.1 "$2" && ! nc -z -w 3 ::1 "$2" && ! nc -z -w 3 ::1 "$1"`
	p, err := l.Start(t.Context(), Policy{Network: PrivateLoopback, Listen: 7717}, Command{Path: "/bin/sh",
		Build: func(addr string) (args, env []string) {
			_, own, _ := net.SplitHostPort(addr)
			return []string{"-c", script, "sh", own, third}, []string{"PATH=/usr/bin:/bin"}
		}})
	if err != nil {
		t.Fatal(err)
	}
	go acceptAll(p.Listener())
	if exit := p.Wait(); exit != (Exit{}) {
		t.Errorf("ended with %+v", exit)
	}
	if _, err := net.Dial("tcp", p.Addr()); err == nil {
		t.Error("the port is open after the end")
	}
}

// Claude Code's view: the base system and what is shown.
func TestTheBaseSystemShowsNothingOfTheUsers(t *testing.T) {
	dir := ground(t)
	put(t, filepath.Join(dir, "shown"), "x")
	put(t, filepath.Join(dir, "beside"), "x")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	script := `cat "$1/shown" && ! cat "$1/beside" && ! ls "$1" && ! ls "$2" && ! ls /private/tmp && ! ls /usr/local/bin && ! ls /Applications && ls / && /usr/bin/true`
	p, err := launcher(t).Start(t.Context(), Policy{ReadOnly: []string{filepath.Join(dir, "shown")}},
		Command{Path: "/bin/sh", Args: []string{"-c", script, "sh", dir, home}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(); exit != (Exit{}) {
		t.Errorf("ended with %+v", exit)
	}
}
