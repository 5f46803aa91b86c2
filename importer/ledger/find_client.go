package ledger

import (
	"context"
	"database/sql"
	"iter"

	"claimsheet/importer/result"
)

// StepsOfClient are all known steps of a client, the step client first and then
// by mapping, those that moved longest ago first.
func (l *Ledger) StepsOfClient(ctx context.Context, owner ClientKey) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now WHERE environment = ? AND space = ? AND client = ?
		ORDER BY mapping, last`, owner.Environment, owner.Space, owner.Client))
}

// RowsOfClient are the rows that runs have recorded of a client, the oldest run
// first; otherwise it is as Rows.
func (l *Ledger) RowsOfClient(ctx context.Context, owner ClientKey) iter.Seq2[RunRow, error] {
	return stream(ctx, l.read, scanRow, `
		SELECT `+rowColumns+`
		FROM owners o JOIN run_rows r ON r.owner = o.id JOIN runs u ON u.id = r.run
		WHERE o.environment = ? AND o.space = ? AND o.client = ?
		ORDER BY u.started, r.run, r.source_row`, owner.Environment, owner.Space, owner.Client)
}

// PlanOfClient are the steps of the newest plan that a run of a mapping made for
// the client, in order, each with its current state; none when the ledger knows
// no such plan. A plan is recognised by its step link, which every plan of
// version 2 has; the list of steps that a run records for a client with invalid
// rows has none.
func (l *Ledger) PlanOfClient(ctx context.Context, owner ClientKey, mapping string) ([]result.Step, error) {
	return gather(inOrder(stream(ctx, l.read, scanRunStep, `
		SELECT `+runStepColumns+`
		FROM run_steps r
		JOIN owners o ON o.id = r.owner
		LEFT JOIN step_now s ON s.owner = r.owner AND s.mapping = r.mapping AND s.step = r.step
		WHERE o.environment = ?1 AND o.space = ?2 AND o.client = ?3 AND r.mapping IN ('', ?4) AND r.run = (
			SELECT p.run FROM owners w JOIN run_steps p ON p.owner = w.id JOIN runs u ON u.id = p.run
			WHERE w.environment = ?1 AND w.space = ?2 AND w.client = ?3 AND p.mapping = ?4 AND p.kind = 'link'
			ORDER BY u.started DESC LIMIT 1)
		ORDER BY r.number`, owner.Environment, owner.Space, owner.Client, mapping)))
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}
