package executor

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

const (
	aclAccess, aclDefault = "system.posix_acl_access", "system.posix_acl_default"
	// Flags of linux/fs.h.
	immutable, appendOnly = 0x10, 0x20
)

// accessList makes an access list in the form of the kernel: owner, one more
// user, group, one more group, mask, others.
func accessList(perms ...uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for i, tag := range []uint16{0x01, 0x02, 0x04, 0x08, 0x10, 0x20} {
		b = binary.LittleEndian.AppendUint16(b, tag)
		b = binary.LittleEndian.AppendUint16(b, perms[i])
		id := uint32(0xffffffff)
		if tag == 0x02 || tag == 0x08 {
			id = 4321
		}
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return b
}

func setXattr(t *testing.T, path, name string, value []byte) {
	t.Helper()
	if err := unix.Lsetxattr(path, name, value, 0); err != nil {
		t.Fatalf("the file system does not take %s, which these tests need: %v", name, err)
	}
}

// dressUp gives a file attributes, with a list an access list, and as root
// another owner.
func dressUp(t *testing.T, path string, r *rand.Rand, list bool) {
	t.Helper()
	setXattr(t, path, "user.one", []byte("1"))
	setXattr(t, path, "user.empty", nil)
	setXattr(t, path, "user.long", []byte(strings.Repeat("x", 1+r.IntN(900))))
	if list {
		setXattr(t, path, aclAccess, accessList(6, uint16(r.IntN(8)), 4, 5, 7, uint16(r.IntN(8))))
	}
	if os.Geteuid() == 0 {
		if err := os.Lchown(path, 12345, 23456); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatAFolderGivesNewFilesStaysOffOldOnes has a folder whose default access
// list every new file in it gets: new files have it, replaced ones keep what
// they had.
func TestWhatAFolderGivesNewFilesStaysOffOldOnes(t *testing.T) {
	f := newWriting(t)
	f.write("work/old", "a\n")
	f.write("work/listed", "a\n")
	setXattr(t, f.path("work/listed"), aclAccess, accessList(6, 7, 5, 0, 5, 1))
	setXattr(t, f.work, aclDefault, accessList(7, 7, 7, 7, 7, 7))
	before := tree(t, f.work)
	for _, name := range []string{"old", "listed"} {
		f.wrote("Edit", args{"file_path": name, "old_string": "a", "new_string": "b"}, "work/"+name)
		_, was, _ := strings.Cut(before[f.path("work/"+name)], " [")
		_, now, _ := strings.Cut(tree(t, f.work)[f.path("work/"+name)], " [")
		if was != now {
			t.Errorf("%s: %s, then %s", name, was, now)
		}
	}
	f.ok("Write", args{"file_path": "new", "content": "a"})
	if s := tree(t, f.work)[f.path("work/new")]; !strings.Contains(s, aclAccess) {
		t.Errorf("the new file is not what a new file here is: %s", s)
	}
}

// TestRightsThatAreBoundToContentAreNotPassedOn has a program with capabilities.
func TestRightsThatAreBoundToContentAreNotPassedOn(t *testing.T) {
	f := newWriting(t)
	f.write("work/tool", "a\n")
	capability := append([]byte{1, 0, 0, 2}, make([]byte, 16)...)
	capability[4] = 1 << 4
	setXattr(t, f.path("work/tool"), "security.capability", capability)
	f.refused("Edit", args{"file_path": "tool", "old_string": "a", "new_string": "b"}, turn.ReadOnlyFile, "security.capability")
	f.refused("Write", args{"file_path": "tool", "content": "b"}, turn.ReadOnlyFile, "security.capability")
}

// TestFilesThatMayNotBeChangedByFlagAreRefused has files of chattr +i and +a.
func TestFilesThatMayNotBeChangedByFlagAreRefused(t *testing.T) {
	f := newWriting(t)
	for _, flag := range []uint32{immutable, appendOnly} {
		f.write("work/fixed", "a\n")
		flagged(t, f.path("work/fixed"), flag)
		before := tree(t, f.work)
		if r := f.run("Write", args{"file_path": "fixed", "content": "b"}); r.Code != turn.OSPermissionDenied || r.Outcome != turn.Error {
			t.Errorf("flag %x: %s: %s", flag, r.Code, r.Text)
		}
		if d := differences(before, tree(t, f.work)); d != "" {
			t.Error(d)
		}
		flagged(t, f.path("work/fixed"), 0)
	}
}

// flagged sets one of the two flags of a file, or none, and leaves the flags
// that are the file system's own. The test leaves no file that cannot be removed.
func flagged(t *testing.T, path string, flag uint32) {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	old, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(old&^(immutable|appendOnly)|flag)); err != nil {
		t.Fatal(err)
	}
	if flag != 0 {
		t.Cleanup(func() { flagged(t, path, 0) })
	}
}
