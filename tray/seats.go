package tray

import "time"

// seatRest is how long a place stays empty after its session has left it, if
// there is another: who reaches for a row does not hit the next one.
const seatRest = 5 * time.Second

// seat is one place of a section.
type seat struct {
	id   string // the session that has it, or ""
	left time.Time
}

// seats are the places of one section. A session keeps its place while it
// belongs there, so nothing moves under the pointer.
type seats [MaxRows]seat

// seat places rows, most urgent first, and returns each place's row, or nil,
// and the rows that found none.
func (s *seats) seat(rows []Row, now time.Time) (placed [MaxRows]*Row, over []Row) {
	byID := make(map[string]*Row, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	for i := range s {
		switch {
		case s[i].id == "":
		case byID[s[i].id] == nil:
			s[i] = seat{left: now}
		default:
			placed[i] = byID[s[i].id]
			delete(byID, s[i].id)
		}
	}
	for i := range rows {
		r := &rows[i]
		if byID[r.ID] == nil {
			continue
		}
		free := s.free(now)
		if free < 0 {
			over = append(over, *r)
			continue
		}
		s[free] = seat{id: r.ID}
		placed[free] = r
	}
	return placed, over
}

// free returns the first empty place that has rested, else the one that has
// rested longest, or -1.
func (s *seats) free(now time.Time) int {
	best := -1
	for i := range s {
		if s[i].id != "" {
			continue
		}
		if now.Sub(s[i].left) >= seatRest {
			return i
		}
		if best < 0 || s[i].left.Before(s[best].left) {
			best = i
		}
	}
	return best
}
