package executor

import "deckhand/gateway/turn"

// Sink is where an action under way tells of itself.
type Sink struct {
	// Action names the action; a write's temporary file is named after it.
	Action turn.ActionID
	// Progress is called now and then, from one goroutine at a time, with the
	// number of bytes that were read from files or, for FindFiles, written to
	// the answer so far. It may be nil.
	Progress func(bytes int64)
	// Output is called as a command prints, from one goroutine at a time, with
	// the bytes and lines that it has printed so far. It may be nil.
	Output func(bytes, lines int64)
	// Prepare makes a write durable before it happens: what is about to be done
	// and the content that the file has until then. It is called at most once,
	// and an error means that nothing is done. A write without it is refused.
	Prepare func(intent turn.WriteIntent, before []byte) error
}

// filled returns the sink with nothing left out that is called without asking.
func (s Sink) filled() Sink {
	if s.Progress == nil {
		s.Progress = func(int64) {}
	}
	if s.Output == nil {
		s.Output = func(int64, int64) {}
	}
	return s
}
