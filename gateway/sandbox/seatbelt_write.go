package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// seatbeltWriter writes one profile.
type seatbeltWriter struct {
	rules  seatbeltRules
	text   strings.Builder
	params []param
	// names are the parameters by their values.
	names map[string]string
}

func (w *seatbeltWriter) write() {
	w.text.WriteString(seatbeltHead)
	w.visible()
	w.text.WriteString("\n;; Programs that others obey.\n(define (never-run)\n  (require-any")
	for _, path := range neverRun {
		fmt.Fprintf(&w.text, "\n    (literal %q)", path)
	}
	w.text.WriteString("))\n\n(allow file-read* file-test-existence file-map-executable (visible))\n")
	w.text.WriteString("(allow process-exec* (require-all (visible) (require-not (never-run))))\n")
	w.text.WriteString(seatbeltLinks)
	w.ancestors()
	w.text.WriteString(seatbeltDevices)
	w.writable()
	w.text.WriteString(seatbeltNever)
	w.text.WriteString(seatbeltServices)
	if w.rules.Port != 0 {
		fmt.Fprintf(&w.text, "\n;; One port of the loopback.\n(allow network-outbound (remote tcp \"localhost:%d\"))\n", w.rules.Port)
	}
	w.params = append(w.params, param{"RUN_MARK", w.rules.Mark})
	w.text.WriteString(seatbeltMark)
}

// visible defines what can be read and run.
func (w *seatbeltWriter) visible() {
	if w.rules.Whole {
		w.text.WriteString("\n;; Files that hold secrets wherever they are.\n(define (env-file)\n  " + envFiles + ")\n")
	}
	w.text.WriteString("\n;; All that can be seen.\n(define (visible)\n  (require-any")
	if w.rules.Whole {
		w.root([]string{`(subpath "/")`}, slices.Concat([]string{"(env-file)"}, w.hiddenBelow("/")))
	} else {
		w.root([]string{baseVisible}, w.hiddenBelow("/"))
	}
	self := w.rules.Self
	for _, path := range slices.Concat([]string{self}, w.rules.ReadOnly, w.rules.Writable) {
		without := w.hiddenBelow(path)
		if w.rules.Whole && path != self && slices.Contains(w.rules.ReadOnly, path) {
			without = append([]string{"(env-file)"}, without...)
		}
		w.root(w.paths("SHOWN", path), without)
	}
	w.text.WriteString("))\n")
}

// hiddenBelow are filters for what is hidden strictly below a path.
func (w *seatbeltWriter) hiddenBelow(path string) []string {
	var all []string
	if w.rules.Whole {
		for _, hidden := range wholeHidden {
			if inside(hidden, path) {
				for _, name := range spellings(hidden) {
					all = append(all, fmt.Sprintf("(subpath %q)", name))
				}
			}
		}
	}
	for _, hidden := range w.rules.Hidden {
		if inside(hidden, path) {
			all = append(all, w.paths("HIDDEN", hidden)...)
		}
	}
	return all
}

// root writes one part of the view: some paths, without others.
func (w *seatbeltWriter) root(paths, without []string) {
	if len(paths) > 1 {
		paths = []string{"(require-any " + strings.Join(paths, " ") + ")"}
	}
	if len(without) == 0 {
		w.text.WriteString("\n    " + paths[0])
		return
	}
	fmt.Fprintf(&w.text, "\n    (require-all\n      %s\n      (require-not (require-any", paths[0])
	for _, filter := range without {
		w.text.WriteString("\n        " + filter)
	}
	w.text.WriteString(")))")
}

// paths are filters for a path and all below it, under each of its names.
func (w *seatbeltWriter) paths(kind, path string) []string {
	var all []string
	for _, name := range spellings(path) {
		p := w.param(kind, name)
		// A subpath of a file is said to match the file alone: both are named
		// so that nothing hangs on it.
		all = append(all, fmt.Sprintf("(literal %s)", p), fmt.Sprintf("(subpath %s)", p))
	}
	return all
}

// param is the parameter that stands for a value.
func (w *seatbeltWriter) param(kind, value string) string {
	name, ok := w.names[value]
	if !ok {
		name = fmt.Sprintf("%s_%d", kind, len(w.params))
		w.names[value] = name
		w.params = append(w.params, param{name, value})
	}
	return fmt.Sprintf("(param %q)", name)
}

// ancestors lets paths be followed down to what is shown.
func (w *seatbeltWriter) ancestors() {
	var all []string
	for _, path := range slices.Concat([]string{w.rules.Self}, w.rules.ReadOnly, w.rules.Writable) {
		for _, name := range spellings(path) {
			all = append(all, ancestors(name)...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return
	}
	w.text.WriteString("(allow file-read-metadata file-test-existence")
	for _, path := range all {
		fmt.Fprintf(&w.text, "\n  (literal %s)", w.param("ABOVE", path))
	}
	w.text.WriteString(")\n")
}

// writable allows writing below each writable directory, and not to replace
// the directory itself: the next start would be led elsewhere.
func (w *seatbeltWriter) writable() {
	if len(w.rules.Writable) == 0 {
		return
	}
	w.text.WriteString("\n;; Writing.\n(allow file-write*")
	var roots []string
	for _, path := range w.rules.Writable {
		without := w.hiddenBelow(path)
		for _, shown := range append([]string{w.rules.Self}, w.rules.ReadOnly...) {
			if inside(shown, path) {
				without = append(without, w.paths("SHOWN", shown)...)
			}
		}
		w.root(w.paths("SHOWN", path), without)
		for _, name := range spellings(path) {
			roots = append(roots, fmt.Sprintf("(literal %s)", w.param("SHOWN", name)))
		}
	}
	w.text.WriteString(")\n(deny file-write-create file-write-unlink")
	for _, root := range roots {
		w.text.WriteString("\n  " + root)
	}
	w.text.WriteString(")\n")
}
