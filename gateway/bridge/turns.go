package bridge

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// keepAnswers is how many answered questions are remembered. A repeat is of
// the newest; an older one is offered again, and the gateway, which forgets
// none, gives the same answer.
const keepAnswers = 8

// turns are the questions of the run by their digest.
type turns struct {
	mu sync.Mutex
	// Guarded by mu:
	open  map[string]*question
	order []string // digests in open, oldest first
	asked int
	// released are the ids of the calls of the newest answer.
	released []turn.ToolUseID
	// refused is the code of the first refusal. After it nothing is answered
	// any more: Claude Code goes on after a compaction that failed.
	refused turn.Code
}

// question is one model request, offered once however often it is asked.
type question struct {
	// done is closed when release and err are set, which then never change.
	done    chan struct{}
	release link.Release
	err     error
}

func (t *turns) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// ask returns the question with a digest, and whether it is new.
func (t *turns) ask(digest string) (q *question, isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q, ok := t.open[digest]; ok {
		return q, false
	}
	if t.open == nil {
		t.open = make(map[string]*question)
	}
	q = &question{done: make(chan struct{})}
	t.open[digest] = q
	t.order = append(t.order, digest)
	t.asked++
	t.forgetLocked()
	return q, true
}

// forgetLocked drops the oldest answered questions over the limit.
func (t *turns) forgetLocked() {
	for i := 0; i < len(t.order) && len(t.order) > keepAnswers; {
		q := t.open[t.order[i]]
		if !q.answered() {
			i++
			continue
		}
		delete(t.open, t.order[i])
		t.order = slices.Delete(t.order, i, i+1)
	}
}

// answer sets what a question's answer is.
func (t *turns) answer(q *question, release link.Release, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q.release, q.err = release, err
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok {
		t.refuseLocked(refusal.Code)
	}
	if err == nil {
		t.released = nil
		for _, c := range release.Calls {
			t.released = append(t.released, c.ID)
		}
	}
	close(q.done)
}

// refuse notes that the run is over, and returns why.
func (t *turns) refuse(code turn.Code) turn.Code {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuseLocked(code)
	return t.refused
}

func (t *turns) refuseLocked(code turn.Code) { t.refused = cmp.Or(t.refused, code) }

// over returns why nothing is answered any more, or "".
func (t *turns) over() turn.Code {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}

// inOrder returns the ids of results in the order in which their calls were
// released, if they are the results of the newest answer.
func (t *turns) inOrder(ids []turn.ToolUseID) []turn.ToolUseID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Equal(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(t.released))) {
		return ids
	}
	return slices.Clone(t.released)
}

func (q *question) answered() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}
