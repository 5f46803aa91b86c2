package ledger

import (
	"context"
	"database/sql"
	"iter"
)

// StepsOfClient are all known steps of a client, the step client first and then
// by mapping, those that moved longest ago first.
func (l *Ledger) StepsOfClient(ctx context.Context, owner Owner) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now WHERE environment = ? AND space = ? AND client = ?
		ORDER BY mapping, last`, owner.Environment, owner.Space, owner.Client))
}

// RowsOfClient are the rows that runs have recorded of a client, the oldest run
// first; otherwise it is as Rows.
func (l *Ledger) RowsOfClient(ctx context.Context, owner Owner) iter.Seq2[Row, error] {
	return stream(ctx, l.read, scanRow, `
		SELECT r.run, r.source_row, r.status, o.environment, o.space, o.client,
			r.number, r.client_id, r.claim_ids, r.url, r.failed_step, r.error, r.advice
		FROM owners o JOIN run_rows r ON r.owner = o.id JOIN runs u ON u.id = r.run
		WHERE o.environment = ? AND o.space = ? AND o.client = ?
		ORDER BY u.started, r.run, r.source_row`, owner.Environment, owner.Space, owner.Client)
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}
