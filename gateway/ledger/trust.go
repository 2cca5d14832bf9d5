package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/gateway/turn"
)

// Trust is a folder in which a person allowed a profile once and for all: its
// next session there is not asked for.
type Trust struct {
	Profile turn.Profile
	Folder  string
	// Since is when the person did, to the second.
	Since time.Time
}

// trustKey is the place of a trust in its bucket.
func trustKey(profile turn.Profile, folder string) []byte {
	return []byte(string(profile) + "\x00" + folder)
}

// trust remembers that a person allowed a session's profile in its folder.
func (t *txn) trust(s SessionRecord) error {
	key := trustKey(s.Profile, s.SourceDirectory())
	if t.tx.Bucket(bucketTrusted).Get(key) != nil {
		return nil
	}
	if err := t.tx.Bucket(bucketTrusted).Put(key, []byte(t.now.Format(time.RFC3339))); err != nil {
		return err
	}
	return t.event(s, ByUser, "trust.given", turn.Event{Name: string(s.Profile), Subject: s.SourceDirectory()})
}

// trusts returns what is trusted, by profile and folder.
func (t *txn) trusts() ([]Trust, error) {
	trusts := []Trust{}
	err := t.tx.Bucket(bucketTrusted).ForEach(func(k, v []byte) error {
		profile, folder, ok := strings.Cut(string(k), "\x00")
		since, err := time.Parse(time.RFC3339, string(v))
		if err != nil || !ok {
			return fmt.Errorf("read trusted folder %q of %q: %w", k, v, err)
		}
		trusts = append(trusts, Trust{Profile: turn.Profile(profile), Folder: folder, Since: since})
		return nil
	})
	return trusts, err
}

// Trusts returns the trusted folders, by folder and profile.
func (l *Ledger) Trusts() ([]Trust, error) {
	var trusts []Trust
	err := l.view(func(t *txn) (err error) {
		trusts, err = t.trusts()
		return err
	})
	slices.SortFunc(trusts, func(a, b Trust) int {
		return strings.Compare(a.Folder+"\x00"+string(a.Profile), b.Folder+"\x00"+string(b.Profile))
	})
	return trusts, err
}

// Trusted reports whether a person has allowed the profile in this folder.
func (l *Ledger) Trusted(profile turn.Profile, folder string) (bool, error) {
	var trusted bool
	err := l.view(func(t *txn) error {
		trusted = t.tx.Bucket(bucketTrusted).Get(trustKey(profile, folder)) != nil
		return nil
	})
	return trusted, err
}

// Revoke takes back the trust in one folder, for all profiles, and returns what
// it took back. Sessions that were allowed stay so. It refuses with not_trusted.
func (l *Ledger) Revoke(folder string) ([]Trust, error) {
	revoked, err := l.revoke(func(t Trust) bool { return t.Folder == folder })
	if err == nil && len(revoked) == 0 {
		err = turn.Refuse(turn.NotTrusted, "%s is not a trusted folder", folder)
	}
	return revoked, err
}

// RevokeAll is Revoke of every folder, also if there is none.
func (l *Ledger) RevokeAll() ([]Trust, error) {
	return l.revoke(func(Trust) bool { return true })
}

func (l *Ledger) revoke(which func(Trust) bool) ([]Trust, error) {
	var revoked []Trust
	err := l.update(func(t *txn) error {
		all, err := t.trusts()
		if err != nil {
			return err
		}
		revoked = slices.DeleteFunc(all, func(trust Trust) bool { return !which(trust) })
		for _, trust := range revoked {
			if err := t.tx.Bucket(bucketTrusted).Delete(trustKey(trust.Profile, trust.Folder)); err != nil {
				return err
			}
			if err := t.event(SessionRecord{}, ByUser, "trust.revoked", turn.Event{Name: string(trust.Profile), Subject: trust.Folder}); err != nil {
				return err
			}
		}
		return nil
	})
	return revoked, err
}
