package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/gateway/ledger"
)

// A file that was cut short or overwritten is told, and ends no process.
func TestADamagedFileIsAnError(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		in := startInput(fmt.Sprintf("key-%02d", i), 100)
		in.Label = strings.Repeat("x", 2000)
		if _, err := w.Start(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, "ledger.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for name, damaged := range map[string][]byte{
		// The file grows by doubling, so half of it may hold every page in use.
		"an eighth of it": whole[:len(whole)/8],
		"two pages":       whole[:2*page],
		"four pages":      whole[:4*page],
		"overwritten":     append(bytes.Repeat([]byte{0xff}, 4*page), whole[4*page:]...),
		"not a ledger":    bytes.Repeat([]byte("x"), len(whole)),
	} {
		t.Run(name, func(t *testing.T) {
			for _, readOnly := range []bool{true, false} {
				// A folder each: a file whose opening panicked stays locked until
				// the process ends.
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "ledger.db"), damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				l, err := ledger.Open(ledger.Options{Dir: dir, ReadOnly: readOnly})
				if err == nil {
					l.Close()
					t.Errorf("read-only %t: it was opened", readOnly)
				} else if errors.Is(err, ledger.ErrInUse) {
					t.Errorf("read-only %t: %v", readOnly, err)
				}
			}
		})
	}
	w.open()
}
