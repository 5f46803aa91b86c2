package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// movedTo stands among the definitions, under a name that no mapping can have,
// for an address of a service that the ledger knows under another one.
const movedTo = "\x00moved"

// SetMoved remembers that an address is that of the service whose entries stand
// under another one. They stay where they are: whom they are about is part of
// what erased clients are recognised by. It is durable when it returns.
func (l *Ledger) SetMoved(address, service string) error {
	return l.SetDefinition(address, movedTo, service)
}

// Moved is the address under which the entries stand of a service that SetMoved
// gave this one; ok is false for an address that it was never called for.
func (l *Ledger) Moved(ctx context.Context, address string) (service string, ok bool, err error) {
	return l.Definition(ctx, address, movedTo)
}

// LastEnvironment is the environment of the newest run of an environment's name,
// as Run.Environment; ok is false when there was none.
func (l *Ledger) LastEnvironment(ctx context.Context, name string) (environment string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT environment FROM runs WHERE environment_name = ? ORDER BY started DESC, id LIMIT 1`, name).Scan(&environment)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return environment, err == nil, err
}
