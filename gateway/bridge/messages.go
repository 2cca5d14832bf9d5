package bridge

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deckhand/gateway/anthropic"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// serveMessages answers POST /v1/messages.
func (s *Server) serveMessages(w http.ResponseWriter, r *http.Request) {
	req, ok := s.decode(w, r)
	if !ok {
		return
	}
	if code := s.turns.over(); code != "" {
		s.fail(w, http.StatusBadRequest, anthropic.InvalidRequest, string(code))
		return
	}
	tail := Classify(req, s.expect)
	offer := link.Offer{Run: s.cfg.Run, Digest: Digest(req), Tail: tail.Kind, Summary: tail.Summary}
	if tail.Kind == link.TailResults {
		offer.ToolUseIDs = s.turns.inOrder(tail.ToolUseIDs)
	}
	q, isNew := s.turns.ask(offer.Digest)
	if isNew {
		s.spawn(func() {
			release, err := s.cfg.Offer(s.ctx, offer)
			s.turns.answer(q, release, err)
		})
	} else {
		s.cfg.Log.Info("model request repeated", "stream", req.Stream, "answered", q.answered())
	}
	if tail.Kind == link.TailOther {
		s.cfg.Log.Warn("model request is no turn", "summary", tail.Summary)
		code := s.turns.refuse(turn.UnexpectedModelRequest)
		s.fail(w, http.StatusBadRequest, anthropic.InvalidRequest, string(code))
		return
	}
	a := asked{question: q, id: messageID(offer.Digest), model: req.Model, server: s.cfg.Name}
	switch {
	case q.answered():
		s.answer(w, a, req.Stream)
	case req.Stream:
		s.stream(w, r, a)
	default:
		s.whole(w, r, a)
	}
}

// asked is a question with what its answer is to be called.
type asked struct {
	*question
	id    anthropic.MessageID
	model string
	// server is the tool server's name, which calls carry for Claude Code.
	server string
}

// reply returns the answer. It must be called only once the question is done.
func (a asked) reply() (anthropic.Answer, error) {
	if a.err != nil {
		return anthropic.Answer{}, a.err
	}
	answer := anthropic.Answer{ID: a.id, Model: a.model, Text: a.release.Text}
	for _, c := range a.release.Calls {
		answer.Calls = append(answer.Calls, anthropic.ToolUse{ID: string(c.ID), Name: ToolName(a.server, c.Name), Input: jsontext.Value(c.Arguments)})
	}
	return answer, answer.Check()
}

// answer sends what is known before anything was sent.
func (s *Server) answer(w http.ResponseWriter, a asked, stream bool) {
	reply, err := a.reply()
	if err != nil {
		status, kind, message := s.explain(err)
		s.fail(w, status, kind, message)
		return
	}
	if !stream {
		body, err := reply.JSON()
		if err != nil {
			s.fail(w, http.StatusBadRequest, anthropic.InvalidRequest, "the answer cannot be sent")
			return
		}
		s.send(w, http.StatusOK, body)
		return
	}
	start, err1 := anthropic.Start(a.id, a.model)
	rest, err2 := reply.Rest()
	if err := errors.Join(err1, err2); err != nil {
		s.fail(w, http.StatusBadRequest, anthropic.InvalidRequest, "the answer cannot be sent")
		return
	}
	eventStream(w)
	w.Write(append(start, rest...))
}

// stream opens the answer, keeps it alive and ends it.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, a asked) {
	start, err := anthropic.Start(a.id, a.model)
	if err != nil {
		s.fail(w, http.StatusBadRequest, anthropic.InvalidRequest, "the answer cannot be sent")
		return
	}
	eventStream(w)
	if !keepAlive(w, r, start, anthropic.Ping(), s.cfg.PingInterval, a.done) {
		return // the client went away; the question stays open
	}
	reply, err := a.reply()
	var rest []byte
	if err == nil {
		rest, err = reply.Rest()
	}
	if err != nil {
		_, kind, message := s.explain(err)
		if rest, err = anthropic.ErrorEvent(kind, message); err != nil {
			s.cfg.Log.Error("encode error event", "err", err)
			return
		}
	}
	w.Write(rest)
}

// whole answers without a stream. Its signs of life are white space before the
// JSON: an answer that is silent for six minutes is given up.
func (s *Server) whole(w http.ResponseWriter, r *http.Request, a asked) {
	soon := time.NewTimer(s.cfg.PingInterval)
	defer soon.Stop()
	select {
	case <-a.done:
		s.answer(w, a, false)
		return
	case <-r.Context().Done():
		return // the question stays open
	case <-soon.C:
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if !keepAlive(w, r, []byte(" "), []byte(" "), s.cfg.PingInterval, a.done) {
		return
	}
	reply, err := a.reply()
	var body []byte
	if err == nil {
		body, err = reply.JSON()
	}
	if err != nil {
		// The status is sent and said that all is well. A broken connection
		// makes Claude Code ask again, and hear of the error at once.
		panic(http.ErrAbortHandler)
	}
	w.Write(body)
}

// explain says what Claude Code is told when there is no answer. A 400 ends
// its run; a 503 lets it ask again.
func (s *Server) explain(err error) (status int, kind anthropic.ErrorType, message string) {
	refusal, refused := errors.AsType[*turn.Refusal](err)
	switch {
	case refused:
		return http.StatusBadRequest, anthropic.InvalidRequest, string(refusal.Code)
	case s.ctx.Err() != nil:
		return http.StatusServiceUnavailable, anthropic.Unavailable, "the run is being ended"
	}
	s.cfg.Log.Error("answer model request", "err", err)
	return http.StatusBadRequest, anthropic.InvalidRequest, string(turn.InternalError)
}

// serveCount answers POST /v1/messages/count_tokens: a 404 would change what
// Claude Code does.
func (s *Server) serveCount(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.decode(w, r); !ok {
		return
	}
	body, err := anthropic.TokenCount()
	if err != nil {
		s.fail(w, http.StatusInternalServerError, anthropic.Unavailable, "cannot count")
		return
	}
	s.send(w, http.StatusOK, body)
}

// decode reads a request; if it cannot, it has answered.
func (s *Server) decode(w http.ResponseWriter, r *http.Request) (*anthropic.Request, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			s.fail(w, http.StatusRequestEntityTooLarge, anthropic.TooLarge, "request over its limit")
		}
		return nil, false
	}
	req, err := anthropic.DecodeRequest(body)
	if err != nil {
		s.cfg.Log.Warn("model request cannot be read", "bytes", len(body))
		s.fail(w, http.StatusBadRequest, anthropic.InvalidRequest, "request cannot be read")
		return nil, false
	}
	return req, true
}

// eventStream opens a stream of server sent events.
func eventStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// keepAlive sends first, then beat every interval, until done is closed. It
// reports false if the client went away before.
func keepAlive(w http.ResponseWriter, r *http.Request, first, beat []byte, interval time.Duration, done <-chan struct{}) bool {
	flush := http.NewResponseController(w)
	if _, err := w.Write(first); err != nil || flush.Flush() != nil {
		return false
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return true
		case <-r.Context().Done():
			return false
		case <-tick.C:
			if _, err := w.Write(beat); err != nil || flush.Flush() != nil {
				return false
			}
		}
	}
}
