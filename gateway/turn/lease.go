package turn

import "time"

// Lease says who may answer a session now, and until when. The epoch grows
// with each rotation and fences late writers.
type Lease struct {
	ID    LeaseID `json:"id"`
	Epoch Epoch   `json:"epoch"`
	// ExpiresAt is wall time in UTC: leases go on while the machine sleeps.
	ExpiresAt time.Time `json:"expires_at"`
	// Used says that a call was made with this lease. Until then the recovery
	// tokens of earlier epochs, down to TokenFloor, stay valid, so that a lost
	// answer to a recover locks nobody out.
	Used bool `json:"used"`
	// TokenFloor is the oldest epoch whose recovery token still works.
	TokenFloor Epoch `json:"token_floor"`
}

// Expired reports whether the lease has ended at now.
func (l Lease) Expired(now time.Time) bool { return !now.Before(l.ExpiresAt) }

// Rotate returns the next lease. The tokens that worked before go on working
// until the new lease is used.
func (l Lease) Rotate(id LeaseID, expires time.Time) Lease {
	floor := l.TokenFloor
	if l.Used {
		floor = l.Epoch
	}
	return Lease{ID: id, Epoch: l.Epoch + 1, ExpiresAt: expires.UTC(), TokenFloor: floor}
}

// Use returns the lease after a call was made with it: from now on only its
// own recovery token works.
func (l Lease) Use() Lease {
	l.Used, l.TokenFloor = true, l.Epoch
	return l
}

// AcceptsToken reports whether the recovery token of epoch still works.
func (l Lease) AcceptsToken(epoch Epoch) bool { return epoch >= l.TokenFloor && epoch <= l.Epoch }

// AcceptsTokenOf reports whether a token works of which tokenOf tells whether
// it is an epoch's.
func (l Lease) AcceptsTokenOf(tokenOf func(Epoch) bool) bool {
	for epoch := l.TokenFloor; epoch <= l.Epoch; epoch++ {
		if l.AcceptsToken(epoch) && tokenOf(epoch) {
			return true
		}
	}
	return false
}
