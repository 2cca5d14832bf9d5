package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deckhand/gateway/turn"
)

// writing lets the fixture's session write in its working directory.
func (f *fixture) writing() *fixture {
	f.scope.Profile, f.scope.Root = turn.DirectWrite, f.work
	return f
}

// newWriting is newFixture for a session that writes, in a folder of the file
// system that holds this package: it has to keep owners, extended attributes
// and access lists.
func newWriting(t *testing.T) *fixture {
	t.Helper()
	base, err := os.MkdirTemp(".", ".test-")
	if err == nil {
		base, err = filepath.Abs(base)
	}
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return newFixtureAt(t, base).writing()
}

// read returns what a file holds now.
func (f *fixture) read(rel string) string {
	f.t.Helper()
	b, err := os.ReadFile(f.path(rel))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

// tree says of everything below a folder what it is, so that two moments can be
// compared: kind, mode, owner, inode, attributes and content.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		s := fmt.Sprintf("%v %d:%d inode %d links %d", info.Mode(), st.Uid, st.Gid, st.Ino, st.Nlink)
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(b)
			s += fmt.Sprintf(" %d bytes %s %s", len(b), hex.EncodeToString(sum[:]), xattrText(t, path))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			s += " -> " + target
		case info.IsDir():
			s = fmt.Sprintf("%v %d:%d", info.Mode(), st.Uid, st.Gid)
		}
		all[path] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func differences(before, after map[string]string) string {
	var b strings.Builder
	paths := map[string]bool{}
	for p := range before {
		paths[p] = true
	}
	for p := range after {
		paths[p] = true
	}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if before[p] != after[p] {
			fmt.Fprintf(&b, "%s: %q, then %q\n", p, before[p], after[p])
		}
	}
	return b.String()
}

// noTemporary fails if a temporary file is anywhere.
func (f *fixture) noTemporary() {
	f.t.Helper()
	for path := range tree(f.t, f.base) {
		if validTemp(filepath.Base(path)) {
			f.t.Fatalf("%s was left", path)
		}
	}
}

// refused runs a call that must be refused with code before anything is
// prepared, saying says, and leaves everything as it was.
func (f *fixture) refused(name string, a args, code turn.Code, says ...string) turn.Result {
	f.t.Helper()
	before, prepared := tree(f.t, f.base), len(f.intents)
	r := f.run(name, a)
	if r.Code != code || r.Outcome != turn.Error || r.Write != nil {
		f.t.Errorf("%s %v: %s %s, want %s: %s", name, a, r.Outcome, r.Code, code, r.Text)
	}
	for _, s := range says {
		if !strings.Contains(r.Text, s) {
			f.t.Errorf("%s %v does not say %q: %s", name, a, s, r.Text)
		}
	}
	if d := differences(before, tree(f.t, f.base)); d != "" {
		f.t.Errorf("%s %v was refused and changed something:\n%s", name, a, d)
	}
	if len(f.intents) != prepared {
		f.t.Errorf("%s %v was refused and prepared", name, a)
	}
	return r
}

// wrote runs a call that must write rel, and holds what it says against the
// disk: hashes before and after, in the record and in the text.
func (f *fixture) wrote(name string, a args, rel string) turn.Result {
	f.t.Helper()
	before, err := os.ReadFile(f.path(rel))
	existed := err == nil
	r := f.ok(name, a)
	after := f.read(rel)
	f.noTemporary()
	if r.Write == nil {
		f.t.Fatalf("%s %v wrote nothing: %s", name, a, r.Text)
	}
	w := f.intents[len(f.intents)-1]
	post := hashOf([]byte(after))
	pre := ""
	if existed {
		pre = hashOf(before)
	}
	if r.Write.PreSHA256 != pre || r.Write.PostSHA256 != post || r.Write.Created == existed || r.Write.Path != f.path(rel) {
		f.t.Errorf("%s %v: the mark is %+v, before %q, after %q", name, a, r.Write, pre, post)
	}
	if w.Path != r.Write.Path || w.Before.SHA256 != pre || w.After.SHA256 != post || w.After.Bytes != int64(len(after)) || string(f.befores[len(f.befores)-1]) != string(before) {
		f.t.Errorf("%s %v: the intent is %+v", name, a, w)
	}
	if info, err := os.Lstat(f.path(rel)); err != nil || uint32(info.Mode().Perm()) != w.After.Mode {
		f.t.Errorf("%s %v: the mode is %v, the intent says %o (%v)", name, a, info.Mode(), w.After.Mode, err)
	}
	if !strings.Contains(r.Text, post) || !strings.Contains(r.Text, showName(f.path(rel))) || existed && !strings.Contains(r.Text, pre) {
		f.t.Errorf("%s %v does not say which file with which hash: %s", name, a, r.Text)
	}
	return r
}

// edited writes text to a file, edits it, and compares.
func (f *fixture) edited(text, old, new, want string) turn.Result {
	f.t.Helper()
	f.write("work/e.txt", text)
	r := f.wrote("Edit", args{"file_path": "e.txt", "old_string": old, "new_string": new}, "work/e.txt")
	if got := f.read("work/e.txt"); got != want {
		f.t.Errorf("%q: %q by %q\n got %q\nwant %q", text, old, new, got, want)
	}
	return r
}
