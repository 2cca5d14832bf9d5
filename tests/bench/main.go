// Program bench measures what Deckhand does against the least that could do the
// same, and prints one ratio a row. Both sides of a row run in turn, in one
// process on one disk, and the ratio is the median of the pairs', so that other
// work on the machine touches both alike. A goal that is not met is printed and
// fails nothing.
//
// A row is one value in rows, made by the file that is named after it.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one line of the table.
type row struct {
	what, against string
	// goal is up to which ratio of the two times is good; 0 for a row that only
	// informs.
	goal  float64
	pairs int
	// open makes both sides in an empty folder on the disk to be measured. Each
	// call of one of them does the thing once and returns how long that took.
	open func(dir string) (sides, error)
}

type sides struct {
	ours, theirs func() (time.Duration, error)
	close        func() error // may be nil
}

var rows = slices.Concat(writeRows, recordedRows)

func main() {
	dir := flag.String("dir", ".", "a folder on the disk to be measured")
	only := flag.String("only", "", "measure only rows with this text in their name")
	flag.Parse()
	if err := run(*dir, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(dir, only string) error {
	base, err := os.MkdirTemp(dir, ".bench-")
	if err == nil {
		base, err = filepath.Abs(base)
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "what\tagainst\tratio\tgoal\t\tours\ttheirs\tpairs")
	for i, r := range rows {
		if !strings.Contains(r.what, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", r.what)
		m, err := r.measure(filepath.Join(base, fmt.Sprint(i)))
		if err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
		goal, met := "", ""
		if r.goal > 0 {
			goal, met = fmt.Sprintf("≤ %.2f", r.goal), "met"
			if m.ratio > r.goal {
				met = "not met"
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%.2f\t%s\t%s\t%s\t%s\t%d\n", r.what, r.against, m.ratio, goal, met, shown(m.ours), shown(m.theirs), r.pairs)
	}
	return table.Flush()
}

func shown(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

// measured are the medians of a row.
type measured struct {
	ratio        float64
	ours, theirs time.Duration
}

// measure runs the pairs of a row, and one before that does not count. Who goes
// first changes from pair to pair.
func (r row) measure(dir string) (m measured, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	s, err := r.open(dir)
	if err != nil {
		return m, err
	}
	if s.close != nil {
		defer func() {
			if closed := s.close(); err == nil {
				err = closed
			}
		}()
	}
	var ratios []float64
	var ours, theirs []time.Duration
	for i := range r.pairs + 1 {
		first, second := s.ours, s.theirs
		if i%2 == 1 {
			first, second = second, first
		}
		a, err := first()
		if err != nil {
			return m, err
		}
		b, err := second()
		if err != nil {
			return m, err
		}
		if i%2 == 1 {
			a, b = b, a
		}
		if i > 0 {
			ratios, ours, theirs = append(ratios, float64(a)/float64(b)), append(ours, a), append(theirs, b)
		}
	}
	return measured{median(ratios), median(ours), median(theirs)}, nil
}

// median changes the order of its values, of which there is at least one.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
