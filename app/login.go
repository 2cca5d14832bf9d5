package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/atomicfile"
)

// bundleID names the app to macOS. It never changes: permissions hang on it.
const bundleID = "app.deckhand.Deckhand"

func (a *app) loginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "login on|off",
		GroupID: groupRun,
		Short:   "Start Deckhand when you log in, or do not",
		Long: `Start Deckhand when you log in, or do not. It takes effect with the next login;
what runs now is left alone.`,
		Example: `  deckhand login on
  deckhand login off`,
		ValidArgs: []string{"on", "off"},
		Args:      onOrOff,
		RunE: func(_ *cobra.Command, args []string) error {
			on := args[0] == "on"
			if err := a.startAtLogin(on); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]bool{"start_at_login": on})
			}
			if on {
				a.printf("Deckhand starts when you log in.\n")
			} else {
				a.printf("Deckhand does not start by itself.\n")
			}
			return nil
		},
	}
	return a.withJSON(cmd)
}

// loginEntry is the file that makes a desktop start program at login: an
// autostart entry, or a LaunchAgent on macOS.
func loginEntry(goos, home string, lookup func(string) string, program string) (path, content string, err error) {
	if goos == "darwin" {
		content, err := launchAgent(program)
		return filepath.Join(home, "Library", "LaunchAgents", bundleID+".plist"), content, err
	}
	config := lookup("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	content, err = autostart(program)
	return filepath.Join(config, "autostart", "deckhand.desktop"), content, err
}

// autostart is a desktop entry of the freedesktop.org specification.
func autostart(program string) (string, error) {
	if strings.ContainsAny(program, "\n\r") {
		return "", fmt.Errorf("the path of this program cannot stand in a desktop entry: %q", program)
	}
	// Quoted as Exec wants it, and then as a string of the file.
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(program)
	quoted = strings.ReplaceAll(`"`+quoted+`"`, `\`, `\\`)
	return `[Desktop Entry]
Type=Application
Name=Deckhand
Comment=ChatGPT works with Claude Code on this computer
Exec=` + quoted + `
Icon=deckhand
Terminal=false
X-GNOME-Autostart-enabled=true
`, nil
}

// launchAgent is a property list of launchd. AbandonProcessGroup leaves the
// shims of live runs alone when the app ends; KeepAlive brings the app back
// after a crash and not after Quit.
func launchAgent(program string) (string, error) {
	var name bytes.Buffer
	if err := xml.EscapeText(&name, []byte(program)); err != nil {
		return "", fmt.Errorf("write launch agent: %w", err)
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + bundleID + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + name.String() + `</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>AbandonProcessGroup</key>
	<true/>
	<key>LimitLoadToSessionType</key>
	<string>Aqua</string>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>ThrottleInterval</key>
	<integer>10</integer>
</dict>
</plist>
`, nil
}

// entryOfLogin is loginEntry of this user, system and program.
func (a *app) entryOfLogin() (path, content string, err error) {
	home := a.env["HOME"]
	if !filepath.IsAbs(home) {
		return "", "", errNoHome
	}
	// Not resolved: a package manager's link stays right when the version
	// behind it changes.
	self, err := os.Executable()
	if err != nil {
		return "", "", fmt.Errorf("find own program: %w", err)
	}
	return loginEntry(runtime.GOOS, home, func(name string) string { return a.env[name] }, self)
}

// startAtLogin makes or removes the entry. The running app is left alone:
// telling launchd to load the entry would start a second one.
func (a *app) startAtLogin(on bool) error {
	path, content, err := a.entryOfLogin()
	if err != nil {
		return err
	}
	if !on {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove login entry: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder of login entries: %w", err)
	}
	return atomicfile.WriteFile(path, []byte(content), 0o644)
}

// startsAtLogin reports whether the entry is there.
func (a *app) startsAtLogin() bool {
	path, _, err := a.entryOfLogin()
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}
