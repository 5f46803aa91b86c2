package ledger

import (
	"context"
	"database/sql"
	"strings"
)

// Environments are the environments that the ledger has clients or runs of, in
// alphabetical order.
func (l *Ledger) Environments(ctx context.Context) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, `SELECT environment FROM owners UNION SELECT environment FROM runs ORDER BY environment`))
}

// spaceEmail is the key space whose keys ignore case: they are kept in lower
// case.
const spaceEmail = "email"

// ClientsNamed are the clients of an environment that have the key, in whatever
// key space, by key space. The key of an e-mail address ignores case.
func (l *Ledger) ClientsNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanOwner, `
		SELECT environment, space, client FROM owners
		WHERE environment = ? AND (client = ? OR space = ? AND client = ?)
		ORDER BY space`, environment, key, spaceEmail, strings.ToLower(key)))
}

// ClientsBeyondASCII are the clients of an environment in whose keys stands more
// than printable ASCII, by key space and key.
func (l *Ledger) ClientsBeyondASCII(ctx context.Context, environment string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanOwner, `
		SELECT environment, space, client FROM owners
		WHERE environment = ? AND client GLOB '*[^ -~]*'
		ORDER BY space, client`, environment))
}

func scanOwner(rows *sql.Rows) (o ClientKey, err error) {
	err = rows.Scan(&o.Environment, &o.Space, &o.Client)
	return o, err
}

// StepsNamed are the steps of a client that have the name, one for each
// mapping that has it, by the mapping's name.
func (l *Ledger) StepsNamed(ctx context.Context, owner ClientKey, step string) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now
		WHERE environment = ? AND space = ? AND client = ? AND step = ?
		ORDER BY mapping`, owner.Environment, owner.Space, owner.Client, step))
}

// MappingsOf are the names of the mappings under which a client has steps, in
// alphabetical order.
func (l *Ledger) MappingsOf(ctx context.Context, owner ClientKey) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, `SELECT DISTINCT s.mapping FROM owners o JOIN steps s ON s.owner = o.id
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping <> ''
		ORDER BY s.mapping`, owner.Environment, owner.Space, owner.Client))
}
