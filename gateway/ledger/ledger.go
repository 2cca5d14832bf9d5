package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"deckhand/gateway/turn"
)

// formatVersion is the version of the bucket layout.
const formatVersion = "1"

// lockTimeout is how long Open waits for another process to let go of the file.
const lockTimeout = 2 * time.Second

// Errors of Open.
var (
	// ErrInUse: another gateway has the ledger open.
	ErrInUse = errors.New("the ledger is in use by another Deckhand")
	// ErrDamaged: the file is not what a ledger can be read from.
	ErrDamaged = errors.New("the ledger is damaged; keep a copy of its folder, private/ledger, before anything else")
	// ErrFormat: the file was written by another, newer build.
	ErrFormat = errors.New("the ledger has a format that this version does not know")
)

// Errors of verbs that tell the engine what to do first. None reaches a user.
var (
	// ErrRunSettled: the run has ended or is being ended and gets nothing more.
	ErrRunSettled = errors.New("the run is settled")
	// ErrRunOpen: the session's run has to end first.
	ErrRunOpen = errors.New("the session's run has not ended")
	// ErrActionOpen: an action of the run is under way and has to end first.
	ErrActionOpen = errors.New("an action of the run is under way")
)

var (
	bucketMeta     = []byte("meta")
	bucketSessions = []byte("sessions")
	bucketRuns     = []byte("runs")
	bucketTurns    = []byte("turns")
	bucketActions  = []byte("actions")
	bucketToolUses = []byte("tooluses")
	bucketKeys     = []byte("keys")
	bucketOpen     = []byte("open")
	bucketDue      = []byte("due")
	bucketWrites   = []byte("writes")
	bucketUndoing  = []byte("undoing")
	bucketTrusted  = []byte("trusted")
	bucketEvents   = []byte("events")
)

func buckets() [][]byte {
	return [][]byte{bucketMeta, bucketSessions, bucketRuns, bucketTurns, bucketActions,
		bucketToolUses, bucketKeys, bucketOpen, bucketDue, bucketWrites, bucketUndoing, bucketTrusted, bucketEvents}
}

// Options says where the ledger lives and who hears of its changes.
type Options struct {
	// Dir is an existing 0700 directory that is the ledger's alone.
	Dir string
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
	// OnCommit, if not nil, is called after each commit for each session that it
	// changed or tells an event of, and with "" for an event of none, in the
	// goroutine of the verb and outside the transaction. It calls no verb.
	OnCommit func(turn.SessionID)
	// Key is a file that is made after the ledger, and never without one: while
	// it is there, an empty ledger.db is no new one. "" looks for none.
	Key string
	// ReadOnly opens an existing ledger beside a running or stopped gateway's
	// file without the right to change it. It fails with ErrInUse while a
	// gateway has it open.
	ReadOnly bool
}

// Ledger is an open ledger. Its methods may be called concurrently.
type Ledger struct {
	db       *bolt.DB
	bodies   string
	now      func() time.Time
	onCommit func(turn.SessionID)

	// Lock order: sweeping, naming, mu.

	// sweeping lets one Sweep go on at a time.
	sweeping sync.Mutex
	// naming is held shared by a verb from before it stores a body until its
	// transaction has named it.
	naming sync.RWMutex
	// mu guards stored: the bodies that were stored since a Sweep began, nil
	// while none goes on.
	mu     sync.Mutex
	stored map[string]bool
}

// Open opens the ledger in o.Dir, making it if there is none. It returns
// ErrInUse if another process has it open, ErrFormat if it is of another
// version.
func Open(o Options) (*Ledger, error) {
	l := &Ledger{bodies: filepath.Join(o.Dir, "bodies"), now: o.Now, onCommit: o.OnCommit}
	if l.now == nil {
		l.now = time.Now
	}
	file := filepath.Join(o.Dir, "ledger.db")
	if err := l.notEmptied(file, o.Key); err != nil {
		return nil, err
	}
	err := guard(func() (err error) {
		l.db, err = bolt.Open(file, 0o600, &bolt.Options{Timeout: lockTimeout, ReadOnly: o.ReadOnly})
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if err := guard(l.sound); err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	if err := l.initialize(o.ReadOnly); err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	if !o.ReadOnly {
		// Only now: the folder tells an old ledger from a new one.
		if err := os.MkdirAll(l.bodies, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make body folder: %w", err), l.db.Close())
		}
	}
	return l, nil
}

// notEmptied refuses a file that is not there, or has nothing in it, where what
// a ledger leaves behind says that it had: taken for a new one, it would have
// every body removed that the old one named. A folder without anything is where
// a person starts anew, or where a crash came before the first byte.
func (l *Ledger) notEmptied(file, key string) error {
	info, err := os.Stat(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open ledger: %w", err)
	}
	if err == nil && info.Size() > 0 {
		return nil
	}
	left := []string{l.bodies}
	if err == nil && key != "" {
		left = append(left, key)
	}
	for _, path := range left {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%w: ledger.db holds nothing, and %s is there", ErrDamaged, filepath.Base(path))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open ledger: %w", err)
		}
	}
	return nil
}

// guard turns what bbolt does with a file that was cut short or overwritten, a
// panic or a fault of the mapped memory, into ErrDamaged.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// sound reads every page and value of the file once. Later reads then meet
// nothing that would end the process.
func (l *Ledger) sound() error {
	return l.db.View(func(tx *bolt.Tx) error {
		if info, err := os.Stat(l.db.Path()); err != nil {
			return err
		} else if info.Size() < tx.Size() {
			return fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, info.Size(), tx.Size())
		}
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
			return b.ForEach(func(_, v []byte) error {
				if len(v) > 0 && v[0] == 0 {
					return fmt.Errorf("%w: a value is no record", ErrDamaged)
				}
				return nil
			})
		})
	})
}

func (l *Ledger) initialize(readOnly bool) error {
	check := func(tx *bolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if meta == nil || string(meta.Get([]byte("format"))) != formatVersion {
			return ErrFormat
		}
		return nil
	}
	if readOnly {
		return l.db.View(check)
	}
	return l.db.Update(func(tx *bolt.Tx) error {
		if tx.Bucket(bucketMeta) != nil {
			return check(tx)
		}
		for _, name := range buckets() {
			if _, err := tx.CreateBucket(name); err != nil {
				return fmt.Errorf("make bucket %s: %w", name, err)
			}
		}
		return tx.Bucket(bucketMeta).Put([]byte("format"), []byte(formatVersion))
	})
}

// Close waits for verbs under way and closes the file.
func (l *Ledger) Close() error { return l.db.Close() }

// txn is one transaction with the few operations that verbs are made of.
type txn struct {
	tx  *bolt.Tx
	now time.Time
	// touched are the sessions that the verb changed or told an event of.
	touched map[turn.SessionID]bool
}

// update runs one verb and then tells OnCommit which sessions it touched. On a
// full disk it refuses with no_space.
func (l *Ledger) update(verb func(*txn) error) error {
	var t *txn
	err := l.db.Update(func(tx *bolt.Tx) error {
		t = &txn{tx: tx, now: l.now().UTC().Round(0), touched: map[turn.SessionID]bool{}}
		return verb(t)
	})
	if err != nil {
		return noSpace(err)
	}
	if l.onCommit != nil {
		for id := range t.touched {
			l.onCommit(id)
		}
	}
	return nil
}

func (l *Ledger) view(read func(*txn) error) error {
	return l.db.View(func(tx *bolt.Tx) error {
		return read(&txn{tx: tx, now: l.now().UTC().Round(0)})
	})
}

// noSpace makes a refusal of an error which says that the ledger's own disk is
// full: that is for the caller to hear.
func noSpace(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return turn.RefuseFor(turn.NoSpace, err, "the disk that holds Deckhand's own records is full, so this call was not begun")
	}
	return err
}

func get[T record](t *txn, bucket []byte, key string) (T, bool, error) {
	data := t.tx.Bucket(bucket).Get([]byte(key))
	if data == nil {
		var zero T
		return zero, false, nil
	}
	r, err := decode[T](data)
	if err != nil {
		return r, false, fmt.Errorf("%s %s: %w", bucket, key, err)
	}
	return r, true, nil
}

func put(t *txn, bucket []byte, key string, r record) error {
	data, err := encode(r)
	if err != nil {
		return fmt.Errorf("%s %s: %w", bucket, key, err)
	}
	return t.tx.Bucket(bucket).Put([]byte(key), data)
}

// must is get for a record that another record names: missing is a fault.
func must[T record](t *txn, bucket []byte, key string) (T, error) {
	r, ok, err := get[T](t, bucket, key)
	if err == nil && !ok {
		err = fmt.Errorf("%s %s: named but missing", bucket, key)
	}
	return r, err
}

func (t *txn) session(id turn.SessionID) (SessionRecord, error) {
	s, ok, err := get[SessionRecord](t, bucketSessions, string(id))
	if err != nil {
		return s, err
	}
	if !ok {
		return s, &turn.Refusal{Code: turn.UnknownSession}
	}
	return s, nil
}

func (t *txn) run(id turn.RunID) (RunRecord, error) {
	return must[RunRecord](t, bucketRuns, string(id))
}

func (t *txn) turn(id turn.TurnID) (TurnRecord, error) {
	return must[TurnRecord](t, bucketTurns, string(id))
}

func (t *txn) action(id turn.ActionID) (ActionRecord, error) {
	return must[ActionRecord](t, bucketActions, string(id))
}

func (t *txn) putRun(r RunRecord) error   { return put(t, bucketRuns, string(r.ID), r) }
func (t *txn) putTurn(r TurnRecord) error { return put(t, bucketTurns, string(r.ID), r) }
func (t *txn) putAction(r ActionRecord) error {
	return put(t, bucketActions, string(r.ID), r)
}

// putSession writes a changed session: it alone bumps the revision and keeps
// the index of what ends by itself.
func (t *txn) putSession(s *SessionRecord) error {
	old, existed, err := get[SessionRecord](t, bucketSessions, string(s.ID))
	if err != nil {
		return err
	}
	if existed {
		if key := dueKey(old); key != nil {
			if err := t.tx.Bucket(bucketDue).Delete(key); err != nil {
				return err
			}
		}
	}
	t.touched[s.ID] = true
	s.Revision++
	s.UpdatedAt = t.now
	if key := dueKey(*s); key != nil {
		if err := t.tx.Bucket(bucketDue).Put(key, nil); err != nil {
			return err
		}
	}
	return put(t, bucketSessions, string(s.ID), *s)
}

// move applies a verb of the transition table.
func (t *txn) move(s *SessionRecord, verb turn.Verb) error {
	to, err := turn.Next(s.Status, verb)
	if err != nil {
		return err
	}
	if s.Status == turn.WaitingForGPT && to != turn.WaitingForGPT {
		s.Pending = ""
	}
	s.Status = to
	return nil
}

// cursorAt returns a cursor over a bucket and its first key.
func cursorAt(t *txn, bucket []byte) (*bolt.Cursor, []byte) {
	c := t.tx.Bucket(bucket).Cursor()
	k, _ := c.First()
	return c, k
}
