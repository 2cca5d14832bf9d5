package turn

// WriteIntent is what a write is about to do to one file. It is durable before
// the file changes, and after a crash it and the file's real state decide what
// happened: see WriteState.
type WriteIntent struct {
	// Path is the file's real absolute path.
	Path string `json:"path"`
	// Temp is the absolute path of the temporary file beside it, which the
	// rename consumes. Its name holds the action's id, so that only this action
	// removes it.
	Temp string `json:"temp"`
	// Parent identifies the directory that holds Path, once it exists.
	Parent FileIdentity `json:"parent"`
	// MadeDirs are the directories that the action makes, outermost first.
	MadeDirs []string `json:"made_dirs,omitempty"`
	// Before is the file as it is, or Absent; After is what it will be, or
	// Absent if an undo removes it.
	Before FileState `json:"before"`
	After  FileState `json:"after"`
}

// FileIdentity names a file or directory apart from its path.
type FileIdentity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// FileState is the content of a file at one moment. The zero value is Absent.
type FileState struct {
	Exists bool   `json:"exists"`
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	// Mode is the permission bits, with setuid, setgid and sticky as in chmod.
	Mode uint32 `json:"mode,omitempty"`
}

// Absent is a file that does not exist.
var Absent FileState

// WriteState is what a look at the file says of a write whose receipt is
// missing.
type WriteState string

const (
	// WriteDone: the file is what the write wanted.
	WriteDone WriteState = "done"
	// WriteNotDone: the file is what it was before, so that the write may begin
	// again.
	WriteNotDone WriteState = "not_done"
	// WriteUnknown: it is neither; somebody else changed it, or it cannot be
	// read. Nothing may be repeated.
	WriteUnknown WriteState = "unknown"
)

// WriteMark is what a receipt says of a write that was done.
type WriteMark struct {
	Path string `json:"path"`
	// PreSHA256 is empty for a file that the write created, PostSHA256 for one
	// that an undo removed.
	PreSHA256  string `json:"pre_sha256,omitempty"`
	PostSHA256 string `json:"post_sha256,omitempty"`
	Created    bool   `json:"created,omitempty"`
	// Notes are what a person should know: that the file runs by itself, that
	// stale outputs of a cell were cleared, and so on.
	Notes []string `json:"notes,omitempty"`
}

// Mark is the mark of a write that was done as intended.
func (w WriteIntent) Mark(notes ...string) *WriteMark {
	return &WriteMark{
		Path: w.Path, PreSHA256: w.Before.SHA256, PostSHA256: w.After.SHA256,
		Created: !w.Before.Exists, Notes: notes,
	}
}
