package command

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// ending says how a command came to its end.
type ending struct {
	exit sandbox.Exit
	took time.Duration
	// limit is the time limit that ended it, 0 if it was not that.
	limit time.Duration
	// stopped says why somebody ended it, "" if nobody did.
	stopped string
}

// receipt puts together what a model is told: first how the command ended and
// how much it printed, then remarks, then the output. What is certain comes
// before what the command could have made up.
//
// A command that ran to its end did what was asked, whatever its status: the
// outcome is ok. Only one that was ended by the limit or by a stop is not.
func receipt(e ending, o *outputs, notes []string, tmp string) turn.Result {
	result := turn.Result{Outcome: turn.OK}
	var b strings.Builder
	took := fmt.Sprintf("%.2f s", e.took.Seconds())
	switch {
	case e.stopped != "":
		result.Outcome, result.Code = turn.OutcomeCancelled, turn.CancelledCode
		fmt.Fprintf(&b, "Ended after %s: %s. The command and everything it had started are gone; it is not run again.", took, e.stopped)
	case e.limit != 0:
		result.Outcome, result.Code = turn.Error, turn.ActionLimitExceeded
		fmt.Fprintf(&b, "Timed out: it still ran after %s (timeout_seconds) and was ended, with everything it had started.", plural(int64(e.limit.Seconds()), "second"))
	case e.exit.Signal != "":
		fmt.Fprintf(&b, "Ended by %s after %s.", e.exit.Signal, took)
	default:
		fmt.Fprintf(&b, "Exit status %d after %s.", e.exit.Code, took)
	}
	fmt.Fprintf(&b, " stdout: %s. stderr: %s.\n", o.out.size(), o.err.size())
	for _, note := range notes {
		fmt.Fprintf(&b, "Note: %s\n", note)
	}
	left := turn.MaxReceiptText - turn.EncodedSize(b.String())
	how := fmt.Sprintf("; a command can write all of it to a file in %s, which Read and SearchText can read", tmp)
	outTitle, errTitle := title("stdout", &o.out), title("stderr", &o.err)
	left -= turn.EncodedSize(outTitle) + turn.EncodedSize(errTitle) + 2*turn.EncodedSize("\n")
	// What one output does not need is the other's.
	outNeeds, errNeeds := o.out.needs(), o.err.needs()
	outShare := min(outNeeds, max(left/2, left-errNeeds))
	errShare := min(errNeeds, left-outShare)
	outText, outCut := o.out.show(outShare, how)
	errText, errCut := o.err.show(errShare, how)
	for _, part := range []struct{ title, text string }{{outTitle, outText}, {errTitle, errText}} {
		if part.title == "" {
			continue
		}
		b.WriteString(part.title)
		b.WriteString(part.text)
		if !strings.HasSuffix(part.text, "\n") {
			b.WriteByte('\n')
		}
	}
	result.Text, result.Truncated = strings.TrimSuffix(b.String(), "\n"), outCut || errCut
	return result
}

func title(name string, o *output) string {
	if o.total == 0 {
		return ""
	}
	return "--- " + name + " ---\n"
}

// size says how much there was.
func (o *output) size() string {
	switch {
	case o.total == 0:
		return "empty"
	case o.bad > 0:
		return fmt.Sprintf(`%s, %s, %s not UTF-8 and shown as \xNN`, plural(o.total, "byte"), plural(o.lines(), "line"), verb(o.bad))
	}
	return fmt.Sprintf("%s, %s", plural(o.total, "byte"), plural(o.lines(), "line"))
}

func verb(n int64) string {
	if n == 1 {
		return "1 byte is"
	}
	return fmt.Sprintf("%d bytes are", n)
}

// needs is how many bytes of a receipt the whole of it takes.
func (o *output) needs() int {
	if !o.whole() {
		return turn.MaxReceiptText
	}
	return cost(o.head) + cost(o.tail)
}

// whole reports whether nothing is missing between head and tail.
func (o *output) whole() bool { return int64(len(o.head)+len(o.tail)) == o.total }

// show writes the output in at most limit bytes of a receipt, as head and tail
// if it does not fit; how says how to get what is then missing.
func (o *output) show(limit int, how string) (text string, cut bool) {
	head, tail := o.head, o.tail
	if o.whole() {
		if o.needs() <= limit {
			return readable(append(bytes.Clone(head), tail...)), false
		}
		// Either piece may need what is in the other.
		head = append(bytes.Clone(head), tail...)
		tail = head
	}
	gap := func(n int64) string {
		return fmt.Sprintf("\n[%d of %s are left out here%s]\n", n, plural(o.total, "byte"), how)
	}
	room := limit - turn.EncodedSize(gap(o.total))
	first := head[:fitHead(head, room/2)]
	last := tail[len(tail)-fitTail(tail, room/2):]
	return readable(first) + gap(o.total-int64(len(first)+len(last))) + readable(last), true
}

// fitHead returns how many of the first bytes fit into limit bytes of a
// receipt: whole characters, and whole lines if that costs little.
func fitHead(b []byte, limit int) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if limit -= costOf(r, size); limit < 0 {
			break
		}
		n += size
	}
	if end := bytes.LastIndexByte(b[:n], '\n'); n < len(b) && end >= n-lineSlack && end >= 0 {
		n = end
	}
	return n
}

// fitTail is fitHead for the last bytes.
func fitTail(b []byte, limit int) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeLastRune(b[:len(b)-n])
		if limit -= costOf(r, size); limit < 0 {
			break
		}
		n += size
	}
	kept := b[len(b)-n:]
	if begin := bytes.IndexByte(kept, '\n'); begin >= 0 && begin < lineSlack {
		kept = kept[begin+1:]
	}
	return len(kept)
}

// lineSlack is how many bytes more are left out so that a cut is between lines.
const lineSlack = 400

// cost is how many bytes of a receipt, as JSON has it, b takes once readable.
func cost(b []byte) int {
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += costOf(r, size)
		b = b[size:]
	}
	return n
}

func costOf(r rune, size int) int {
	if r == utf8.RuneError && size <= 1 {
		return len(`\\xNN`)
	}
	return turn.EncodedRune(r)
}

// readable makes UTF-8 of it: a byte that is part of no character becomes \xNN.
func readable(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&s, `\x%02x`, b[0])
		} else {
			s.Write(b[:size])
		}
		b = b[size:]
	}
	return s.String()
}

// show writes a name or path so that it cannot be taken for anything else.
func show(name string) string {
	if len(name) > 200 {
		n := 200
		for n > 0 && !utf8.RuneStart(name[n]) {
			n--
		}
		name = name[:n] + "…"
	}
	if utf8.ValidString(name) && name != "" && strings.TrimSpace(name) == name && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
