package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Server is a database server that keeps a ledger in place of a file: what the ledger
// needs of it beside the statements, which are the same for both. Package postgres has
// the only one.
type Server struct {
	Name string  // of the ledger, without secrets; Path returns it
	Read *sql.DB // connections that only read
	// Write is the connection that writes; nil when the ledger is only read. Unless the
	// ledger is shared, the server lets no other process write while this connection is
	// open. It is never replaced: when it breaks, the ledger stops.
	Write *sql.Conn
	// Shared says that other processes may write the ledger at the same time; see Ledger.Lock.
	Shared  bool
	Silence time.Duration // after which a session that holds what others wait for is ended
	// LockSpace sets the names that are locked apart from those of the other ledgers of the
	// database, and is the same by whatever way a process connects.
	LockSpace string

	// Explain is an error as the ledger reports it, without values of rows.
	Explain func(error) error
	// IsUnique and IsDeadlock report what an explained error is.
	IsUnique, IsDeadlock func(error) bool

	// Compact removes from the server's files what was removed from the tables.
	Compact func(context.Context) error
	// Close is called once, when nothing uses the connections any more.
	Close func() error

	session int64 // the number of this process among those that write a ledger; it is locked while Write is open
	backend int64 // the process of the server that has Write
}

// OnServer opens a ledger that a server keeps, with all its tables. The ledger closes
// the connections, also when OnServer fails.
func OnServer(s Server) (*Ledger, error) {
	l, err := reading(s.Read, s.Name, &s)
	if err != nil {
		if s.Write != nil {
			err = errors.Join(err, s.Write.Close())
		}
		return nil, errors.Join(err, s.Close())
	}
	if s.Write == nil {
		return l, nil
	}
	l.write = newWriter(nil, s.Write, s.Name, &s)
	go l.write.work()
	s.session = rand.Int64()
	err = l.bare(func(t *transaction) error {
		_, err := first(context.Background(), t.database, []any{&s.backend, new(any)}, `SELECT pg_backend_pid(), pg_advisory_lock(?)`, s.session)
		return err
	})
	if err == nil && s.Shared {
		err = l.speak()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if s.Shared {
		l.speaking = make(chan struct{})
		go l.speakRegularly(l.speaking)
	}
	return l, nil
}

// ErrServer is wrapped by what ends a command because the ledger's server has failed, or
// the way to it.
var ErrServer = errors.New("the ledger's server has failed")

// ServerFailed wraps ErrServer around an error that says what has failed.
func ServerFailed(err error) error { return fmt.Errorf("%w (%w)", err, ErrServer) }
