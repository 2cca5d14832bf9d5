package control

import (
	"sync/atomic"
	"time"
)

// lastSeen is when ChatGPT last made a request that came through to the tools,
// for the person who wonders whether it is connected.
type lastSeen struct{ nanoseconds atomic.Int64 }

func (l *lastSeen) note(t time.Time) { l.nanoseconds.Store(t.UnixNano()) }

// LastChatGPTRequest returns when ChatGPT's client last made a request, the
// zero time if it has made none since the server was made.
func (s *Server) LastChatGPTRequest() time.Time {
	if n := s.seen.nanoseconds.Load(); n != 0 {
		return time.Unix(0, n).UTC()
	}
	return time.Time{}
}
