#!/bin/sh
# Fetches what building, trying and testing Deckhand needs and is not there yet.
# Running it again changes nothing.
#
#   packaging/setup.sh        what "make demo" needs
#   packaging/setup.sh test   and what "make test" needs beyond that
#   packaging/setup.sh desktop   and a desktop without a monitor, for "make desktop"
#
# Claude Code goes to .tools/claude-VERSION/claude, which git ignores. On Linux
# missing system packages are installed with apt-get. Whatever is missing and
# cannot be installed is named in one line that says what to do.
set -eu
cd "$(dirname "$0")/.."

# The version that Deckhand is measured against. The Makefile reads it here.
CLAUDE_VERSION=2.1.247

say() { printf 'setup: %s\n' "$*"; }
fail() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}

# need COMMAND WHAT-TO-DO
need() {
	command -v "$1" >/dev/null 2>&1 || fail "$1 is missing: $2"
}

# install_missing COMMAND PACKAGE... installs the packages if the command is
# not there.
install_missing() {
	command=$1
	shift
	command -v "$command" >/dev/null 2>&1 && return 0
	command -v apt-get >/dev/null 2>&1 ||
		fail "$command is missing and there is no apt-get: install $* with this system's package manager, then try again"
	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null 2>&1 ||
			fail "$command is missing and there is no sudo: as root, run apt-get install $*, then try again"
		as_root=sudo
	fi
	say "installing $* with apt-get"
	# The lists of packages may be old or absent; fetching them is only worth
	# its time if the first try finds nothing.
	install_packages "$@" || {
		say "updating the lists of packages"
		$as_root apt-get update -qq </dev/null || fail "apt-get update does not work: install $* by hand, then try again"
		install_packages "$@"
	} || fail "apt-get cannot install $*: install it by hand, then try again"
}

install_packages() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

# claude_package prints the npm package with the native binary of this machine.
claude_package() {
	case "$(uname -s)" in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no Claude Code for $(uname -s) that Deckhand is tested with" ;;
	esac
	case "$(uname -m)" in
	x86_64 | amd64) cpu=x64 ;;
	arm64 | aarch64) cpu=arm64 ;;
	*) fail "there is no Claude Code for $(uname -m)" ;;
	esac
	echo "@anthropic-ai/claude-code-$os-$cpu"
}

# fetch_claude puts the pinned Claude Code in place. It is renamed into place
# when it is whole and says its version, so an interrupted run leaves nothing
# that looks finished.
fetch_claude() {
	target=.tools/claude-$CLAUDE_VERSION
	if [ -x "$target/claude" ]; then
		say "Claude Code $CLAUDE_VERSION is there"
		return 0
	fi
	need npm "install Node.js (https://nodejs.org), which brings npm, then try again"
	package=$(claude_package)
	say "fetching Claude Code $CLAUDE_VERSION from npm (250 MB on disk, once)"
	mkdir -p .tools
	part=$(mktemp -d .tools/part.XXXXXX)
	trap 'rm -rf "$part"' EXIT
	trap 'exit 1' HUP INT TERM
	npm install --prefix "$part" --ignore-scripts --no-package-lock --no-audit --no-fund --no-save \
		--loglevel=error "$package@$CLAUDE_VERSION" </dev/null >/dev/null ||
		fail "npm cannot fetch $package@$CLAUDE_VERSION: see its message above, then try again"
	chmod +x "$part/node_modules/$package/claude"
	found=$(env -i HOME="$part" "$part/node_modules/$package/claude" --version </dev/null) ||
		fail "the Claude Code that npm fetched does not run on this machine"
	case "$found" in
	"$CLAUDE_VERSION "*) ;;
	*) fail "npm fetched Claude Code $found and not $CLAUDE_VERSION" ;;
	esac
	rm -rf "$target"
	mv "$part/node_modules/$package" "$target"
}

need go "install Go 1.26 or later (https://go.dev/dl), then try again"
need git "install git, then try again"
if [ "$(uname -s)" = Linux ]; then
	install_missing bwrap bubblewrap
fi
if [ "${1-}" = desktop ]; then
	[ "$(uname -s)" = Linux ] || fail "make desktop needs Linux"
	install_missing Xvfb xvfb xauth
	install_missing xfce4-panel xfce4-panel xfconf xfwm4 xfce4-notifyd dbus adwaita-icon-theme fonts-dejavu-core
	install_missing xdotool xdotool
	install_missing import imagemagick
	install_missing xclip xclip
fi
if [ "${1-}" = test ] || [ "${1-}" = desktop ]; then
	case "$(uname -s)" in
	Linux)
		# The race detector needs a C compiler; searches are compared with rg.
		install_missing cc gcc libc6-dev
		install_missing rg ripgrep
		# What commands of sessions are tried with, beside Go, Git, npm and the C
		# compiler.
		install_missing make make
		install_missing python3 python3
		install_missing jq jq
		# Menus and notifications are tested on a bus of their own.
		install_missing dbus-daemon dbus-daemon
		;;
	Darwin)
		need cc "run xcode-select --install, then try again"
		need rg "run brew install ripgrep, then try again"
		;;
	esac
fi
fetch_claude
