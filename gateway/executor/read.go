package executor

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"deckhand/gateway/turn"
)

// wholeFile is up to which size, in bytes, a file is read to its end to count
// its lines and to hash it. Beyond, reading stops where the answer is full.
const wholeFile = 256 << 20

// maxNotebook is up to which size a notebook is shown by cell.
const maxNotebook = 32 << 20

type readArguments struct {
	FilePath string `json:"file_path"`
	Offset   int64  `json:"offset"`
	Limit    int64  `json:"limit"`
	Column   int64  `json:"column"`
}

func (a readArguments) check() error { return checkPath("file_path", a.FilePath) }

func (e *Executor) read(ctx context.Context, scope Scope, doc document, progress func(int64)) turn.Result {
	a, err := decode[readArguments](doc)
	if err != nil {
		return result(err)
	}
	path := scope.absolute(a.FilePath)
	l, err := locateFile(e.protected.View(), path)
	if err != nil {
		return result(err)
	}
	defer l.close()
	fd, err := reopen(l)
	if err != nil {
		return result(explainOpen(e.protected.View(), path, err))
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()

	r := &reading{ctx: ctx, path: path, size: l.info.size, progress: progress, hash: sha256.New()}
	r.want(a.Offset, a.Limit, a.Column, turn.MaxReceiptText-len(showName(path))-1024)
	if strings.HasSuffix(strings.ToLower(path), ".ipynb") && l.info.size <= maxNotebook {
		return r.notebook(f)
	}
	return r.text(f)
}

// reading is one Read under way.
type reading struct {
	ctx      context.Context
	path     string
	size     int64 // as stat said before the first byte
	progress func(int64)
	hash     hash.Hash
	bytes    int64 // read so far
	// note is a remark for the header; bom is the length of a byte order mark
	// that was left out, utf16 says that the file begins with one of UTF-16.
	note  string
	bom   int64
	utf16 bool
	window
}

// chunk is how much is read at once.
const chunk = 256 << 10

// text shows lines of a plain file in one pass with bounded memory.
func (r *reading) text(f io.Reader) turn.Result {
	buf := make([]byte, chunk)
	check := utf8Check{lines: true}
	for {
		if r.ctx.Err() != nil {
			return turn.Result{}
		}
		n, err := f.Read(buf)
		b := buf[:n]
		if r.bytes == 0 {
			b = r.skipBOM(b)
		}
		r.hash.Write(buf[:n])
		r.bytes += int64(n)
		if nul := check.add(b); nul >= 0 {
			return r.binary(f, nul)
		}
		r.window.add(b)
		if n > 0 && r.bytes%(4<<20) < chunk {
			r.progress(r.bytes)
		}
		if err == io.EOF {
			check.end()
			break
		}
		if err != nil {
			return r.failed(err)
		}
		if r.done() && r.bytes > wholeFile {
			r.partial = true
			break
		}
	}
	r.window.end()
	if check.bad != nil {
		return turn.Failure(turn.NotUTF8, fmt.Sprintf("%s is not UTF-8 text: the first bad byte is 0x%02x at byte offset %d (line %d). %s. It is not shown, so that nothing is shown that is not there.",
			showName(r.path), check.bad.value, check.bad.at+r.bom, check.bad.line, r.identity()))
	}
	return r.show()
}

// skipBOM takes a UTF-8 byte order mark off the first bytes.
func (r *reading) skipBOM(b []byte) []byte {
	head := string(b[:min(3, len(b))])
	r.utf16 = strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff")
	if head == "\uFEFF" {
		r.bom, r.note = 3, "UTF-8 with BOM, which is not shown"
		return b[3:]
	}
	return b
}

// binary describes a file that has a NUL byte.
func (r *reading) binary(f io.Reader, nul int64) turn.Result {
	buf := make([]byte, chunk)
	for r.bytes <= wholeFile {
		if r.ctx.Err() != nil {
			return turn.Result{}
		}
		n, err := f.Read(buf)
		r.hash.Write(buf[:n])
		r.bytes += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return r.failed(err)
		}
		r.partial = r.bytes > wholeFile
	}
	r.progress(r.bytes)
	looks := ""
	if r.utf16 {
		looks = "; it looks like UTF-16 text"
	}
	return turn.Result{Outcome: turn.OK, Text: fmt.Sprintf("%s: binary, not shown: a NUL byte stands at byte offset %d%s. %s.", showName(r.path), nul+r.bom, looks, r.identity())}
}

// identity says which file it was, as far as it was read.
func (r *reading) identity() string {
	if r.partial {
		return fmt.Sprintf("%s, SHA-256 not computed for files over %s", count(max(r.size, r.bytes), "byte"), count(wholeFile>>20, "MiB"))
	}
	return fmt.Sprintf("%s, SHA-256 %s", count(r.bytes, "byte"), hex.EncodeToString(r.hash.Sum(nil)))
}

func (r *reading) failed(err error) turn.Result {
	text := "unknown error"
	if p, ok := errors.AsType[*os.PathError](err); ok {
		text = p.Err.Error()
	}
	return turn.Failure(turn.IOError, fmt.Sprintf("%s could not be read beyond byte %d: %s", showName(r.path), r.bytes, text))
}

// show makes the answer of a window that is complete.
func (r *reading) show() turn.Result {
	r.progress(r.bytes)
	if r.first > r.lines && r.first > 1 {
		return turn.Failure(turn.OutOfRange, fmt.Sprintf("%s has %s; line %d does not exist.", showName(r.path), count(r.lines, "line"), r.first))
	}
	if r.column > 1 && r.columnMissed {
		return turn.Failure(turn.OutOfRange, fmt.Sprintf("line %d of %s has %s; column %d does not exist.", r.first, showName(r.path), count(r.firstLineBytes, "byte"), r.column))
	}
	var b strings.Builder
	total := fmt.Sprintf("of %d", r.lines)
	if r.partial {
		total = fmt.Sprintf("of more than %d", r.lines)
	}
	fmt.Fprintf(&b, "%s: ", showName(r.path))
	switch {
	case r.lines == 0:
		b.WriteString("empty, 0 lines")
	case r.column > 1:
		fmt.Fprintf(&b, "lines %d-%d %s, from byte %d of line %d", r.first, r.lastShown(), total, r.column, r.first)
	default:
		fmt.Fprintf(&b, "lines %d-%d %s", r.first, r.lastShown(), total)
	}
	fmt.Fprintf(&b, ", %s", r.identity())
	if r.note != "" {
		fmt.Fprintf(&b, " (%s)", r.note)
	}
	b.WriteByte('\n')
	b.Write(r.kept)
	cut := r.more()
	if cut != "" {
		if len(r.kept) > 0 && r.kept[len(r.kept)-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(cut)
	}
	return turn.Result{Outcome: turn.OK, Text: b.String(), Truncated: r.full}
}

// notebook shows a notebook by cell, or as plain text if it is none that this
// program understands.
func (r *reading) notebook(f io.Reader) turn.Result {
	raw, err := io.ReadAll(bufio.NewReaderSize(io.LimitReader(f, maxNotebook+1), chunk))
	if err != nil {
		return r.failed(err)
	}
	view, note := notebookView(raw)
	if view == nil {
		plain := r.text(strings.NewReader(string(raw)))
		if note != "" && plain.Outcome == turn.OK {
			head, rest, _ := strings.Cut(plain.Text, "\n")
			plain.Text = head + " (" + note + ")\n" + rest
		}
		return plain
	}
	r.hash.Write(raw)
	r.bytes = int64(len(raw))
	r.note = note
	r.window.add(view)
	r.window.end()
	return r.show()
}
