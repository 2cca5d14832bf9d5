package command

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"deckhand/gateway/protected"
)

// maxNamed is how many paths of one kind are named in a receipt.
const maxNamed = 3

// explained is what the explanations of one receipt rest on.
type explained struct {
	goos string
	argv []string
	dir  string // real path of where it ran
	// shown are the folders that the policy brings back to the private places.
	shown []string
	tmp   string // what TMPDIR is
	// edits says that the session has tools that change files.
	edits  bool
	view   *protected.View
	failed bool // it did not end with status 0
}

// explain returns remarks on what the sandbox refused, as far as the output
// tells of it. A command that succeeded is believed what it printed to standard
// output: it may show a text that speaks of refusals.
func (x explained) explain(o *outputs) []string {
	found := map[string][]string{}
	seen := func(kind, what string) {
		if !slices.Contains(found[kind], what) && len(found[kind]) < maxNamed {
			found[kind] = append(found[kind], what)
		}
	}
	x.look(&o.err, seen)
	if x.failed {
		x.look(&o.out, seen)
	}
	var notes []string
	for _, kind := range kinds {
		if what, ok := found[kind.name]; ok {
			what = slices.DeleteFunc(what, func(s string) bool { return s == "" })
			notes = append(notes, kind.note(x, what))
		}
	}
	return notes
}

// kind is one sort of refusal.
type kind struct {
	name string
	note func(x explained, what []string) string
}

// kinds are in the order in which they are told.
var kinds = []kind{
	{"write", explained.refusedWrite},
	{"space", func(x explained, _ []string) string {
		return fmt.Sprintf("there was no space left. /tmp is small and ends with the command; %s (TMPDIR) is on the disk and stays.", x.tmp)
	}},
	{"protected", func(_ explained, what []string) string {
		return fmt.Sprintf("protected paths are not shown to commands: %s.", strings.Join(what, "; "))
	}},
	{"private", func(_ explained, what []string) string {
		return fmt.Sprintf("commands have /tmp, /var/tmp and /run of their own: %s is not in there. What lies below the directory of the session, or below cwd, is.", strings.Join(what, ", "))
	}},
	{"socket", func(explained, []string) string {
		return "a socket was refused. Commands have TCP and UDP over a loopback of their own at most, and no unix sockets; on macOS they cannot listen at all. What needs more is for the user to run."
	}},
	{"network", func(explained, []string) string {
		return "commands have no network. A server that the same command starts can be reached over 127.0.0.1 where the system allows it; nothing else of this computer and nothing beyond it can."
	}},
	{"missing", func(explained, []string) string {
		return "packages are used as they are on this computer, and nothing is fetched. What is missing has to be installed by the user, outside of this session."
	}},
}

// refusedWrite says which write was refused and what can be done.
func (x explained) refusedWrite(what []string) string {
	where := "a write was refused"
	if len(what) > 0 {
		where += ": " + strings.Join(what, ", ")
	}
	note := fmt.Sprintf("%s. Commands see the file system read-only. They can write below %s (TMPDIR), which stays for later commands of this session and can be read with Read; the caches of the usual tools are set up already. ", where, x.tmp)
	switch name := filepath.Base(x.argv[0]); {
	case name == "go":
		note += fmt.Sprintf("go build takes -o %s.", filepath.Join(x.tmp, "NAME"))
	case slices.Contains([]string{"cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "rustc", "tsc", "javac", "swiftc"}, name):
		note += fmt.Sprintf("Let it put its result there, for example with -o %s.", filepath.Join(x.tmp, "NAME"))
	case name == "git":
		note += "Git can be read here, and not changed."
	default:
		note += `What has to write beside its sources can work in a copy: ['sh', '-c', 'cp -R . "$TMPDIR/copy" && cd "$TMPDIR/copy" && …'].`
	}
	if x.edits {
		note += " Files of the project are changed with Edit and Write."
	}
	return note
}

// signs tell of a refusal, in lower case.
var signs = []struct {
	kind string
	any  []string // one of them stands in the line
	also []string // and one of these, if there are any
}{
	{"write", []string{"read-only file system", "erofs"}, nil},
	// What macOS says of a refused write.
	{"write", []string{"operation not permitted"}, []string{"open", "create", "creat", "touch", "mkdir", "write", "rename", "[errno 1]"}},
	{"space", []string{"no space left on device", "enospc", "disk quota exceeded"}, nil},
	{"socket", []string{"operation not permitted", "eperm"}, []string{"socket", "bind", "listen", "connect", ".sock", "multiprocessing"}},
	{"network", []string{"could not resolve host", "name resolution", "name or service not known", "nodename nor servname", "network is unreachable",
		"enetunreach", "enotfound", "eai_again", "getaddrinfo", "no route to host", "dial tcp: lookup"}, nil},
	{"network", []string{"connection refused", "econnrefused"}, []string{"127.0.0.1", "localhost", "::1"}},
	{"missing", []string{"disabled by goproxy=off", "enotcached", "without the offline flag", "offline mode", "--offline", "no matching distribution found"}, nil},
}

// deniedWords tell that something could not be reached, in lower case.
var deniedWords = []string{"permission denied", "eacces", "no such file", "enoent", "operation not permitted", "eperm"}

// look finds the signs in what is kept of an output.
func (x explained) look(o *output, seen func(kind, what string)) {
	for _, part := range [][]byte{o.head, o.tail} {
		var before string // the last few lines
		for line := range strings.Lines(readable(part)) {
			line = strings.TrimRight(line, "\r\n")
			lower := strings.ToLower(line)
			for _, s := range signs {
				if s.also != nil && s.kind == "write" && x.goos != "darwin" {
					continue // on Linux it is said of other things
				}
				sign, ok := contained(lower, s.any)
				if _, also := contained(lower, s.also); !ok || len(s.also) > 0 && !also {
					continue
				}
				what := ""
				if s.kind == "write" {
					what = x.pathIn(line, before, strings.Index(lower, sign))
				}
				seen(s.kind, what)
			}
			if word, ok := contained(lower, deniedWords); ok {
				if path := x.pathIn(line, "", strings.Index(lower, word)); filepath.IsAbs(path) {
					x.lookAt(path, seen)
				}
			}
			before = line + "\n" + before[:min(len(before), 400)]
		}
	}
}

// privatePlaces are the folders that a sandbox has of its own.
var privatePlaces = []string{"/tmp", "/var/tmp", "/run", "/private/tmp", "/private/var/tmp"}

// lookAt says why a path could not be reached, if it is the sandbox's doing.
func (x explained) lookAt(path string, seen func(kind, what string)) {
	if d := x.view.Decide(path, protected.Read); !d.Allowed {
		seen("protected", d.Reason)
		return
	}
	own := func(place string) bool {
		return path != place && within(path, place) && !slices.ContainsFunc(x.shown, func(s string) bool { return within(path, s) })
	}
	if slices.ContainsFunc(privatePlaces, own) && exists(path) {
		seen("private", path)
	}
}

// contained returns the first of the words that text holds.
func contained(text string, words []string) (string, bool) {
	for _, word := range words {
		if strings.Contains(text, word) {
			return word, true
		}
	}
	return "", false
}

// quoted finds what messages put between quotes of any kind; an apostrophe in a
// word is none.
var quoted = regexp.MustCompile("(?:^|[^\\pL\\pN])['\"`‘“]([^'\"`’”]+)['\"`’”]")

// pathIn finds the path that a message is about: what it quotes, else the last
// word before the sign, else what the lines before quote. It is absolute if it
// reads like a path, or "".
func (x explained) pathIn(line, before string, sign int) string {
	found := ""
	switch m := quoted.FindStringSubmatch(line); {
	case m != nil:
		found = m[1]
	default:
		words := strings.Fields(strings.TrimRight(line[:min(max(sign, 0), len(line))], " :([]"))
		if len(words) > 0 {
			found = strings.Trim(words[len(words)-1], ":,;()")
		}
		if m := quoted.FindStringSubmatch(before); m != nil && !strings.ContainsAny(found, "/.") {
			found = m[1]
		}
	}
	switch {
	case found == "" || strings.ContainsAny(found, "\x00*?"):
		return ""
	case filepath.IsAbs(found):
		return show(filepath.Clean(found))
	case strings.ContainsAny(found, " \t"):
		return ""
	}
	return show(filepath.Join(x.dir, found))
}
