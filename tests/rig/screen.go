//go:build desktop

package rig

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deckhand/app/demo/child"
)

// Screen is a desktop without a monitor: an X server, a window manager, a panel
// and a notification daemon as Debian ships them, on a bus of their own.
type Screen struct {
	t    testing.TB
	dir  string
	env  []string
	conn *dbus.Conn
	// Address is the session bus, Display the X server.
	Address, Display string
}

// panelConfig puts the tray into the left corner of the screen.
const panelConfig = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
 <property name="configver" type="int" value="2"/>
 <property name="panels" type="array"><value type="int" value="1"/>
  <property name="dark-mode" type="bool" value="true"/>
  <property name="panel-1" type="empty">
   <property name="position" type="string" value="p=6;x=0;y=0"/>
   <property name="length" type="uint" value="100"/>
   <property name="position-locked" type="bool" value="true"/>
   <property name="size" type="uint" value="28"/>
   <property name="plugin-ids" type="array"><value type="int" value="1"/><value type="int" value="2"/><value type="int" value="3"/></property>
  </property>
 </property>
 <property name="plugins" type="empty">
  <property name="plugin-1" type="string" value="systray"><property name="icon-size" type="int" value="22"/><property name="square-icons" type="bool" value="true"/><property name="menu-is-primary" type="bool" value="true"/></property>
  <property name="plugin-2" type="string" value="separator"><property name="expand" type="bool" value="true"/><property name="style" type="uint" value="0"/></property>
  <property name="plugin-3" type="string" value="clock"><property name="mode" type="uint" value="2"/></property>
 </property>
</channel>
`

// noticeConfig puts notifications where no menu is.
const noticeConfig = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-notifyd" version="1.0">
 <property name="notify-location" type="uint" value="3"/>
</channel>
`

// iconAt is where the panel shows the first icon, in pixels.
const iconAt = "14"

// NewScreen starts the desktop. Each part is waited for before the next starts.
func NewScreen(t testing.TB) *Screen {
	t.Helper()
	dir, err := os.MkdirTemp("", "dh-screen-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Screen{t: t, dir: dir}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, sub := range []string{"home", "run", "config/xfce4/xfconf/xfce-perchannel-xml"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"xfce4-panel": panelConfig, "xfce4-notifyd": noticeConfig} {
		file := filepath.Join(dir, "config/xfce4/xfconf/xfce-perchannel-xml", name+".xml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Nothing of the machine's own desktop leaks in.
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_CACHE_HOME=" + filepath.Join(dir, "home/.cache"),
		"XDG_DATA_HOME=" + filepath.Join(dir, "home/.local/share"), "NO_AT_BRIDGE=1", "GIO_USE_VFS=local", "GTK_THEME=Adwaita",
		"XDG_CURRENT_DESKTOP=XFCE", "XDG_SESSION_TYPE=x11", "LANG=C.UTF-8", "GDK_BACKEND=x11"}
	s.startX()
	s.startBus()
	s.run("xfwm4", "--compositor=off", "--sm-client-disable")
	s.run(first(t, "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd", "/usr/lib/aarch64-linux-gnu/xfce4/notifyd/xfce4-notifyd", "/usr/lib/xfce4/notifyd/xfce4-notifyd"))
	s.awaitName(noticeName)
	s.run("xfce4-panel", "--disable-wm-check", "--sm-client-disable")
	s.awaitName(watcherName)
	return s
}

func first(t testing.TB, paths ...string) string {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("none of %v is installed; make setup-desktop installs it", paths)
	return ""
}

// startX lets the server choose a free display, which it names when it is ready.
func (s *Screen) startX() {
	s.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer read.Close()
	cmd := s.command("Xvfb", "-displayfd", "3", "-screen", "0", "1100x700x24", "-nolisten", "tcp", "-noreset", "-wr")
	cmd.ExtraFiles = []*os.File{write}
	s.start(cmd)
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		s.t.Fatalf("Xvfb did not start: %v", err)
	}
	s.Display = ":" + strings.TrimSpace(line)
	s.env = append(s.env, "DISPLAY="+s.Display)
}

func (s *Screen) startBus() {
	s.t.Helper()
	cmd := s.command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path="+filepath.Join(s.dir, "bus"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.start(cmd)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	s.Address = strings.TrimSpace(address)
	s.env = append(s.env, "DBUS_SESSION_BUS_ADDRESS="+s.Address)
	if s.conn, err = dbus.Connect(s.Address); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.conn.Close() })
}

func (s *Screen) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	// A group of its own, so that what it starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run starts a program that goes on until the end of the test.
func (s *Screen) run(name string, args ...string) {
	s.t.Helper()
	s.start(s.command(name, args...))
}

func (s *Screen) start(cmd *exec.Cmd) {
	s.t.Helper()
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("start %s, which make setup-desktop installs: %v", cmd.Path, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed in the end
		close(ended)
	}()
	s.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-ended
	})
}

func (s *Screen) awaitName(name string) {
	s.t.Helper()
	Await(s.t, name+" on the bus", func() bool {
		var has bool
		err := s.conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&has)
		return err == nil && has
	})
}

// OnScreen runs the app with its menu on a screen.
func OnScreen(s *Screen) Option {
	return func(o *child.Options) {
		o.Menu = true
		o.Env = append(o.Env, "DBUS_SESSION_BUS_ADDRESS="+s.Address, "DISPLAY="+s.Display)
	}
}

// tool runs a program of the desktop to its end and returns what it said.
func (s *Screen) tool(name string, args ...string) string {
	s.t.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

// OpenMenu clicks the icon.
func (s *Screen) OpenMenu() {
	s.t.Helper()
	s.tool("xdotool", "mousemove", iconAt, iconAt, "sleep", "0.2", "click", "1")
	time.Sleep(700 * time.Millisecond) // the panel draws
}

// Keys types keys, one after another, as slowly as a person.
func (s *Screen) Keys(keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		s.tool("xdotool", "key", key)
		time.Sleep(150 * time.Millisecond)
	}
}

// Clipboard is what is on it.
func (s *Screen) Clipboard() string {
	out, err := s.command("xclip", "-selection", "clipboard", "-o").Output()
	if err != nil {
		return "" // nothing was copied yet
	}
	return string(out)
}

// Shoot saves what is on the screen, and fails if that is one colour.
func (s *Screen) Shoot(file string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.tool("import", "-window", "root", file)
	if colors := strings.TrimSpace(s.tool("identify", "-format", "%k", file)); colors == "1" {
		s.t.Errorf("%s shows nothing", file)
	}
	s.t.Log(fmt.Sprintf("saved %s", file))
}
