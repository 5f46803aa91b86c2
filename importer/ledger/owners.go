package ledger

import (
	"context"
	"database/sql"
	"iter"
)

// ClientsWithID are the clients of an environment whose step client has the id:
// more than one means that two keys stand for one client of the service.
func (l *Ledger) ClientsWithID(ctx context.Context, environment, id string) iter.Seq2[ClientKey, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (o ClientKey, err error) {
		err = rows.Scan(&o.Environment, &o.Space, &o.Client)
		return o, err
	}, `SELECT o.environment, o.space, o.client FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'client' AND s.state = 'done' AND s.created = ? AND s.created <> '' AND o.environment = ?
		ORDER BY s.id`, id, environment)
}
