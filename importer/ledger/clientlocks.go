package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Several processes may write one ledger on a server at the same time. Who works on a client
// locks it first, with the addresses by which it is looked up, so that two processes do not get
// in each other's way. The locks belong to the session that writes: they end with it, and a
// process that has lost them cannot write any more.
//
// Nothing is created twice without them either: an intent that is in the ledger is never sent by
// anybody else, and what another process has changed meanwhile is refused.
//
// A ledger in a file is locked as a whole when it is opened.

// How long Lock waits before it tries again, and how often it looks for sessions that are
// silent.
const (
	lockPause  = 20 * time.Millisecond
	lockLonger = 250 * time.Millisecond
	lockLook   = 5 * time.Second
)

// Lock locks names, all or none, for the caller: no other process and no other caller in this
// one has any of them until unlock is called. It tries at least once, and then until ctx is
// done. Where others hold a name, their session is ended when it has been silent for as long as
// Server.Silence. A ledger in a file needs no locks.
func (l *Ledger) Lock(ctx context.Context, names ...string) (unlock func(), err error) {
	if !l.Shared() || len(names) == 0 {
		return func() {}, nil
	}
	keys := make([]int64, len(names))
	for i, name := range names {
		keys[i] = l.server.lockKey(name)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	looked := time.Now()
	for pause := lockPause; ; pause = min(2*pause, lockLonger) {
		var locked bool
		if err := l.bare(func(t *transaction) (err error) {
			locked, err = t.tryLock(keys)
			return err
		}); err != nil {
			return nil, err
		}
		if locked {
			return sync.OnceFunc(func() {
				_ = l.bare(func(t *transaction) error { return t.unlock(keys) }) // fails where the ledger has stopped, and the locks have ended with it
			}), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		if time.Since(looked) > min(lockLook, l.server.Silence/4) {
			looked = time.Now()
			if err := l.bare(func(t *transaction) error { return t.endSilent(keys) }); err != nil {
				return nil, err
			}
		}
	}
}

// lockKey is the number by which a server locks a name.
func (s *Server) lockKey(name string) int64 {
	sum := sha256.Sum256([]byte(s.LockSpace + "\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// ServerTime is a server's clock in a statement: microseconds since 1970.
const ServerTime = `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)`

// tryLock locks keys, all or none, unless another caller or another process has one. It gives back in
// the same statement what it has got, unless that is all: the server writes a warning where something
// is given back that is not locked. It also reserves numbers for events: they are higher than those of
// all events of the locked clients so far.
func (t *transaction) tryLock(keys []int64) (bool, error) {
	if slices.ContainsFunc(keys, func(k int64) bool { return t.held[k] }) {
		return false, nil
	}
	var locked bool
	var givenBack, lowest, backend int64
	_, err := first(context.Background(), t.database, []any{&locked, &givenBack, &lowest, &backend}, `WITH
		tried AS MATERIALIZED (SELECT k, pg_try_advisory_lock(k) AS locked FROM unnest(?::bigint[]) k),
		verdict AS (SELECT bool_and(locked) AS locked FROM tried)
		SELECT v.locked, count(CASE WHEN t.locked AND NOT v.locked THEN pg_advisory_unlock(t.k) END),
			CASE WHEN v.locked THEN nextval('versions') ELSE 0 END, pg_backend_pid()
		FROM tried t, verdict v GROUP BY v.locked`, keys)
	if !locked || err != nil {
		return false, err
	}
	for _, k := range keys {
		t.held[k] = true
	}
	return true, t.reserved(lowest, backend)
}

func (t *transaction) unlock(keys []int64) error {
	for _, k := range keys {
		delete(t.held, k)
	}
	_, err := t.exec(`SELECT count(pg_advisory_unlock(k)) FROM unnest(?::bigint[]) k`, keys)
	return err
}

// locks are the locks l of the database, in a statement, and lockedKey is the key of one.
const (
	locks = `pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	lockedKey = `(CAST(l.classid AS bigint) << 32) | CAST(l.objid AS bigint)`
)

// Sessions is a query for the numbers of all sessions that write a ledger of the database, as
// Ledger.Session has them, and for how long each has said nothing.
const Sessions = `SELECT ` + lockedKey + ` AS number,
	coalesce((SELECT clock_timestamp() - a.state_change FROM pg_stat_get_activity(l.pid) a), interval '0') AS silent FROM ` + locks

// endSilent ends the sessions of the same user that hold one of the keys and have said nothing for
// as long as Server.Silence.
func (t *transaction) endSilent(keys []int64) error {
	_, err := t.exec(`SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
		WHERE a.usename = current_user AND a.pid <> pg_backend_pid() AND a.state_change < clock_timestamp() - ? * interval '1 microsecond'
		AND a.pid IN (SELECT l.pid FROM `+locks+` AND `+lockedKey+` = ANY (?::bigint[]))`, t.server.Silence.Microseconds(), keys)
	return err
}

// speakRegularly keeps the session of a shared ledger from being silent, and notices that it is
// gone.
func (l *Ledger) speakRegularly(stop <-chan struct{}) {
	for tick := time.NewTicker(l.server.Silence / 12); ; {
		select {
		case <-stop:
			tick.Stop()
			return
		case <-tick.C:
			if l.speak() != nil {
				return // the ledger has stopped
			}
		}
	}
}

func (l *Ledger) speak() error {
	now := time.Now() // before it is said
	err := l.bare(func(t *transaction) error {
		_, err := t.exec(`SELECT 1`)
		return err
	})
	if err == nil {
		l.spoke.Store(&now)
	}
	return err
}

// Holds reports whether this process still has what it has locked, so that a request may leave
// whose intent is recorded. As a rule it asks a clock and not the server; after a pause, in which
// another process may have ended the session, it asks the server.
func (l *Ledger) Holds() bool {
	if !l.Shared() {
		return l.Stopped() == nil
	}
	now, then := time.Now(), *l.spoke.Load()
	silent := max(now.Sub(then), now.Round(0).Sub(then.Round(0))) // the monotonic clock may stand still while the machine sleeps
	return l.Stopped() == nil && (silent < l.server.Silence/2 || l.speak() == nil)
}

// LockName is the name by which a client is locked.
func (k ClientKey) LockName() string { return lockName("client", k.Environment, k.Space, k.Client) }

// AddressLockName is the name by which an address is locked.
func AddressLockName(environment, address string) string {
	return lockName("address", environment, address)
}

func lockName(parts ...string) string { return fmt.Sprintf("%q", parts) } // two lists of parts never give the same text

// Shared reports whether other processes may write the ledger at the same time.
func (l *Ledger) Shared() bool { return l.write != nil && l.server != nil && l.server.Shared }

// Session is the number by which Sessions has this process while it may write a ledger on a server, and
// silence how long others wait for it when it says nothing.
func (l *Ledger) Session() (number int64, silence time.Duration) {
	return l.server.session, l.server.Silence
}
