#!/bin/bash
# Proves the sandbox of Deckhand on this Mac, once, and says what to send back.
#
#   packaging/macos/verify-seatbelt.sh
#
# It builds what is here, runs every test of the sandbox through the real
# sandbox-exec, and writes one report. It changes nothing that lasts: tests work
# in folders "deckhand-verify-..." in your home and remove them. Some attempts
# try to open programs, to read the Keychain's list or to take a screen shot;
# in the sandbox they have to fail, and nothing of the kind may appear.
set -u

say() { printf '%s\n' "$*"; }
stop() {
	printf 'verify-seatbelt: %s\n' "$*" >&2
	exit 2
}

[ "$(uname -s)" = Darwin ] || stop "this is for macOS; on Linux the same rules are tested by make test"
[ "$(id -u)" -ne 0 ] || stop "run it as yourself and not as root: root is not who Deckhand is for"
[ -x /usr/bin/sandbox-exec ] || stop "this macOS has no /usr/bin/sandbox-exec"
command -v go >/dev/null 2>&1 || stop "there is no go in PATH; Deckhand needs Go 1.26 or later (https://go.dev/dl)"
/usr/bin/sandbox-exec -p '(version 1)(allow default)' /usr/bin/true 2>/dev/null ||
	stop "sandbox-exec does not start here; if this terminal runs in a sandbox itself, use another one"

root=$(cd "$(dirname "$0")/../.." && pwd -P) || stop "the source tree is not where this script expects it"
cd "$root" || stop "cannot enter $root"
if [ ! -f go.mod ] || [ ! -d gateway/sandbox ]; then
	stop "$root is not Deckhand's source tree"
fi

kept=$(mktemp -d "${TMPDIR:-/tmp}/deckhand-seatbelt.XXXXXX") || stop "no folder for the report"
report=$kept/report.txt
denials=$kept/denials.txt
failed=0
began=$(date '+%Y-%m-%d %H:%M:%S')

{
	say "Deckhand: proof of the macOS sandbox, $began"
	say "commit: $(git rev-parse HEAD 2>/dev/null || say unknown), changed files: $(git status --porcelain 2>/dev/null | wc -l | tr -d ' ')"
	sw_vers
	say "machine: $(uname -m), processors: $(sysctl -n hw.ncpu)"
	csrutil status
	go version
	say "home on: $(diskutil info "$HOME" 2>/dev/null | sed -n 's/^ *File System Personality: *//p')"
} >"$report" 2>&1

# self_test asks the doctor, whose other checks are about more than the sandbox.
self_test() {
	said=$("$kept/deckhand" doctor 2>&1)
	say "$said"
	case $said in *"Seatbelt confines"*) return 0 ;; *) return 1 ;; esac
}

# step NAME COMMAND... runs one step, keeps what it prints, and tells how it went.
step() {
	name=$1
	shift
	printf '%-58s ' "$name"
	printf '\n=== %s: %s\n' "$name" "$*" >>"$report"
	if "$@" >>"$report" 2>&1; then
		say ok
	else
		say FAILED
		failed=$((failed + 1))
	fi
}

step "the tree builds without cgo, and vet finds nothing" env CGO_ENABLED=0 go vet ./gateway/...
step "the program builds (needs the command line tools)" go build -o "$kept/deckhand" ./app
step "the sandbox: launcher, self-test, attempts, lifetime" go test -count=1 -v -timeout 20m ./gateway/sandbox/...
step "the same, once more, with the race detector" go test -count=1 -race -timeout 20m ./gateway/sandbox/...
step "what uses it: commands, runs and their shims build" go test -count=1 -run XXX ./gateway/command/... ./gateway/runner/... ./gateway/shim/...
step "the self-test, from the program itself" self_test

left=$(find "$HOME" -maxdepth 1 -name 'deckhand-verify-*' 2>/dev/null)
[ -z "$left" ] || say "left behind, and safe to remove: $left"

# What the system refused to the tests, for whoever looks into a failure.
log show --style compact --start "$began" \
	--predicate 'sender == "Sandbox" AND eventMessage CONTAINS "deny"' 2>/dev/null |
	grep -E 'sandbox\.test|deckhand|sh\(|cat\(|nc\(' | tail -2000 >"$denials"

passed=$(grep -c '^ *--- PASS' "$report")
broken=$(grep -c '^ *--- FAIL' "$report")
say
say "$passed tests passed, $broken failed, $failed of the steps failed."
if [ "$failed" -ne 0 ]; then
	say "The tests that failed:"
	grep '^ *--- FAIL' "$report" | sort -u | sed 's/^ */  /'
fi
say
say "Please send back: $report"
if [ "$failed" -ne 0 ]; then
	say "and, after a look at it, because it names files of yours: $denials"
fi
[ "$failed" -eq 0 ]
