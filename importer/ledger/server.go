package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"claimsheet/mapping/problem"
)

// Server is a database server that keeps a ledger in place of a file: what the ledger
// needs of it beside the statements, which are the same for both. Package postgres has
// the only one.
//
// Its driver takes the statements in the words of SQLite. It converts the arguments
// itself (driver.NamedValueChecker): for one with the method Text or Texts it stores
// what that returns. A truth is 0 or 1, and a row that is read has int64, string, []byte
// and nil only. Statements of one connection may overlap.
type Server struct {
	Name string  // of the ledger, without secrets; Path returns it
	Read *sql.DB // connections that only read
	// Write is the connection that writes; nil when the ledger is only read. Unless the
	// ledger is shared, the server lets no other process write while this connection is
	// open. It is never replaced: when it breaks, the ledger stops.
	Write *sql.Conn
	// Shared says that other processes may write the ledger at the same time. Then nothing
	// is sent for a client that is not leased; see Lease.
	Shared bool
	// Leases are those of this process; nil when the ledger is only read.
	Leases Leases
	// Session is the number of this process among those that write the ledger.
	Session int64
	// Clock is time.Now where it is nil.
	Clock func() time.Time
	// NextStep is the expression for the number of the next row of steps.
	NextStep string
	// Numbered makes the numbers of new rows higher than those in the tables. It is called
	// in the transaction that has stored rows with their numbers.
	Numbered func(exec func(text string, args ...any) error) error
	// Compact removes from the server's files what was removed from the tables.
	Compact func(context.Context) error
	// Close is called once, when nothing uses the connections any more.
	Close func() error
}

// OnServer opens a ledger that a server keeps, with all its tables. The ledger closes
// the connections, also when OnServer fails.
func OnServer(s Server) (*Ledger, error) {
	readers, err := openReaders(s.Read)
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	l := &Ledger{read: s.Read, readers: readers, path: s.Name, rows: rowReader{newNames(s.Read), s.Name}, server: &s}
	if s.Write == nil {
		return l, nil
	}
	tx, err := prepare(context.Background(), s.Write, s.Name, &s)
	if err != nil {
		return nil, errors.Join(err, readers.close(), s.end())
	}
	tx.shared, tx.leases = s.Shared, newLeases(s.Leases, s.Clock)
	l.write = &writer{tx: tx, server: &s, queue: make(chan job, queueLength), ended: make(chan struct{})}
	go l.write.work()
	if s.Shared {
		go tx.leases.renewRegularly(l.write)
	}
	return l, nil
}

// end closes the connections.
func (s *Server) end() error {
	err := s.Read.Close()
	if s.Write != nil {
		err = errors.Join(err, s.Write.Close())
	}
	return errors.Join(err, s.Close())
}

// Empty is an empty ledger that is only read, for a place that has none yet.
func Empty() (*Ledger, error) { return openEmpty() }

// ErrServer is wrapped by what ends a command because the ledger's server has failed, or
// the way to it.
var ErrServer = errors.New("the ledger's server has failed")

// ServerFailed wraps ErrServer around an error that says so in its own words.
func ServerFailed(err error) error { return serverFailure{err} }

type serverFailure struct{ error }

func (f serverFailure) Unwrap() []error { return []error{f.error, ErrServer} }

// Refuse is the error of a ledger that cannot be used: a problem with a hint that also
// wraps kind, one of the errors of this package.
func Refuse(p problem.Problem, kind error) error { return refusal{p, kind} }
