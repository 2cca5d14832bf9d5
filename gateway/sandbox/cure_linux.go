package sandbox

import (
	"os"
	"strings"
)

// installCure is the one command that installs bubblewrap here.
func installCure() string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release, _ = os.ReadFile("/usr/lib/os-release") // neither: the general answer
	}
	return "to cure it: " + installCommand(string(release))
}

// installCommand picks the command for the system that an os-release describes.
func installCommand(release string) string {
	var ids []string
	for line := range strings.Lines(release) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name == "ID" || name == "ID_LIKE" {
			ids = append(ids, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	for _, id := range ids {
		switch id {
		case "debian", "ubuntu":
			return "sudo apt-get install bubblewrap"
		case "fedora", "rhel", "centos":
			return "sudo dnf install bubblewrap"
		case "arch":
			return "sudo pacman -S bubblewrap"
		case "suse", "opensuse":
			return "sudo zypper install bubblewrap"
		case "alpine":
			return "sudo apk add bubblewrap"
		}
	}
	return "install the package bubblewrap, version 0.8.0 or later"
}

// switches of the kernel that keep ordinary users from making a sandbox, each
// with the value that does and the command that changes it.
var switches = []struct{ path, off, cure string }{
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
		"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"},
}

// setupCure says why a sandbox could not be set up and, if the reason is
// known, the one command that cures it. said is what bwrap and the stage
// printed.
func setupCure(said string) string {
	return setupCureFor(said, func(path string) string {
		value, err := os.ReadFile(path)
		if err != nil {
			return "" // a switch that this kernel does not have is not off
		}
		return strings.TrimSpace(string(value))
	})
}

func setupCureFor(said string, read func(string) string) string {
	for _, s := range switches {
		if read(s.path) == s.off {
			return "this system keeps programs from making user namespaces; to cure it: " + s.cure
		}
	}
	if strings.Contains(said, "mount proc") {
		return "this container hides parts of /proc, so no sandbox gets one of its own; run outside of it, or start it with an unmasked /proc"
	}
	return "bubblewrap could not set up the sandbox; deckhand doctor says what it complained about"
}
