package entry

import (
	"maps"
	"slices"
	"strings"
)

// rule refuses programs by name.
type rule struct {
	id    string
	why   string
	names map[string]bool
}

func named(id, why, names string) rule {
	r := rule{id: id, why: why, names: map[string]bool{}}
	for name := range strings.FieldsSeq(names) {
		r.names[name] = true
	}
	return r
}

const whyModel = "starts another model; this session has one"

// rules are about programs by name. Those of coreutils stand here with the "g"
// that Homebrew puts before them, too.
var rules = []rule{
	named("A01", "acts as another user",
		"sudo sudoedit su doas doasedit pkexec login runuser run0 gosu su-exec sg newgrp dzdo pfexec ksu gksu gksudo kdesu kdesudo lxsudo"),
	named("A02", "deletes, moves or overwrites files, which commands may only read",
		"rm rmdir mv unlink shred dd truncate install srm grm grmdir gmv gunlink gshred gdd gtruncate ginstall trash trash-put"),
	named("A03", "controls the system or other processes",
		"launchctl systemctl systemd-run loginctl machinectl service rc-service initctl telinit init shutdown reboot halt poweroff kill pkill killall skill crontab at batch"),
	named("A04", "reaches the desktop, the keychain or the system's settings",
		"open osascript security defaults tccutil pbcopy pbpaste automator shortcuts screencapture networksetup systemsetup scutil dscl spctl csrutil nvram xdg-open xclip xsel wl-copy wl-paste secret-tool dbus-send gdbus busctl gsettings dconf"),
	named("A06", "is a container or network client, and commands have no network",
		"docker docker-compose podman podman-compose nerdctl buildah kubectl helm minikube lxc incus vagrant ssh sshfs sftp ssh-copy-id autossh mosh scp rsync curl wget aria2c ftp lftp tftp telnet nc ncat netcat nc.openbsd nc.traditional socat rclone gh glab"),
}

// models are command lines of models.
var models = named("A05", whyModel,
	"claude claude-code codex gemini opencode aider goose amp copilot cursor-agent qwen crush auggie droid")

// packages hold such a command line, as their registries name them.
var packages = map[string]bool{
	"@anthropic-ai/claude-code": true, "@openai/codex": true, "@google/gemini-cli": true, "opencode-ai": true, "aider-chat": true,
	"@sourcegraph/amp": true, "@github/copilot": true, "@qwen-code/qwen-code": true, "@charmland/crush": true, "@augmentcode/auggie": true,
}

// ruleFor returns the rule that a program breaks by what it is called, or nil.
func ruleFor(at location) *rule {
	if models.names[at.name] && (at.tool || at.leadsOut()) || inModelPackage(at.path) {
		return &models
	}
	if !at.tool {
		return nil
	}
	for i := range rules {
		if rules[i].names[at.name] {
			return &rules[i]
		}
	}
	return nil
}

// inModelPackage reports whether a path leads through the installed package of
// a model's command line.
func inModelPackage(p string) bool {
	_, after, ok := strings.Cut("/"+p, "/node_modules/")
	for ; ok; _, after, ok = strings.Cut(after, "/node_modules/") {
		part := strings.SplitN(after, "/", 3)
		if packages[part[0]] || len(part) > 1 && packages[part[0]+"/"+part[1]] {
			return true
		}
	}
	return false
}

// modelPackage reports whether a package, as npx or uvx are told it, is that of
// a model's command line: "@openai/codex@latest", "aider-chat==0.5", "npm:codex".
func modelPackage(spec string) bool {
	name := packageName(spec)
	return packages[name] || models.names[name]
}

// packageName takes the version and the registry off a package.
func packageName(spec string) string {
	name := strings.ToLower(spec)
	for _, registry := range []string{"npm:", "jsr:"} {
		name = strings.TrimPrefix(name, registry)
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if i := strings.IndexAny(name, "=<>!~[; "); i > 0 {
		name = name[:i]
	}
	return name
}

// interpreters run a program that is a file of theirs.
var interpreters = []string{"node", "nodejs", "bun", "deno", "tsx", "ts-node", "python", "python3", "pypy", "pypy3"}

// isInterpreter also takes names with a version: python3.12.
func isInterpreter(name string) bool {
	return slices.Contains(interpreters, strings.TrimRight(name, "0123456789.")) || slices.Contains(interpreters, name)
}

// Models are the names of the command lines of models, sorted.
func Models() []string { return slices.Sorted(maps.Keys(models.names)) }
