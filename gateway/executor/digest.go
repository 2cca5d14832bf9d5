package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"
)

// aloneBelow is up to how many bytes a hash is not worth a goroutine.
const aloneBelow = 256 << 10

// digest is the SHA-256 of a content that is hashed as it is read, on another
// processor if it is long. The content is given piece by piece to add, then end
// is called, and somebody has to wait. A nil digest is that of no content.
type digest struct {
	pieces chan []byte // nil for a content that is hashed at once
	work   sync.WaitGroup

	// Not to be touched before work is done:
	state hash.Cloner
	size  int
	marks []mark
}

// mark is the state of a hash after so many bytes.
type mark struct {
	at    int
	state hash.Cloner
}

// newDigest begins to hash a content of about size bytes.
func newDigest(size int64) *digest {
	d := &digest{state: sha256.New().(hash.Cloner)}
	if size > aloneBelow {
		d.pieces = make(chan []byte, maxWrite/readPiece)
		d.work.Go(func() {
			for b := range d.pieces {
				d.hash(b)
			}
		})
	}
	return d
}

// add takes the next piece, which nobody may change.
func (d *digest) add(b []byte) {
	if d.pieces == nil {
		d.hash(b)
	} else {
		d.pieces <- b
	}
}

func (d *digest) end() {
	if d.pieces != nil {
		close(d.pieces)
	}
}

func (d *digest) hash(b []byte) {
	if state, err := d.state.Clone(); err == nil {
		d.marks = append(d.marks, mark{d.size, state})
	}
	d.state.Write(b)
	d.size += len(b)
}

func (d *digest) wait() {
	if d != nil {
		d.work.Wait()
	}
}

// sum is the hash of the whole content.
func (d *digest) sum() string {
	d.wait()
	return hexOf(d.state)
}

// upTo is a hash that has been given the first known bytes of the content, and
// at most limit of them.
func (d *digest) upTo(limit int) (h hash.Hash, known int) {
	d.wait()
	if d != nil {
		for i := len(d.marks) - 1; i >= 0; i-- {
			if m := d.marks[i]; m.at <= limit {
				if state, err := m.state.Clone(); err == nil {
					return state, m.at
				}
			}
		}
	}
	return sha256.New(), 0
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
