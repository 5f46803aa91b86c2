package ledger

import (
	"context"
	"errors"

	"claimsheet/mapping/problem"
)

// Check reads the whole ledger and returns a problem ledger-damaged when it is not sound: the structure
// of its file, and that no row points to another that is not there. Another process may
// write the ledger meanwhile.
func (l *Ledger) Check(ctx context.Context) error {
	if l.path == "" {
		return nil
	}
	err := l.snapshot(ctx, func(tx *database) error {
		if l.server == nil {
			if err := checkStructure(ctx, tx, l.path, "PRAGMA integrity_check(1)"); err != nil {
				return err
			}
		}
		return checkReferences(ctx, tx, l.path)
	})
	switch {
	case err == nil || errors.As(err, new(problem.Problem)):
		return err
	case l.server != nil:
		return problem.At(problem.Where{File: l.path}, "ledger-server", "the ledger cannot be read: %v", problem.Cause(err)).
			Hinted("See that the server answers, and run again.")
	}
	return unreadable(l.path, err)
}

// checkStructure refuses a file whose structure SQLite finds damaged, by the PRAGMA
// quick_check or integrity_check.
func checkStructure(ctx context.Context, db *database, path, pragma string) error {
	var verdict string
	if _, err := first(ctx, db, []any{&verdict}, pragma); err != nil {
		return err
	}
	if verdict != "ok" {
		// The verdict may span lines and names tables and pages, no contents.
		return damaged(path, "the ledger is damaged: %q", verdict)
	}
	return nil
}

// checkReferences refuses a ledger with rows that point to rows which are not there.
func checkReferences(ctx context.Context, db *database, path string) error {
	for _, c := range []struct{ what, query string }{
		{"a client without its environment", `SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT 1 FROM names e WHERE e.id = c.environment)`},
		{"a step without its client",
			`SELECT count(*) FROM steps s WHERE NOT EXISTS (SELECT 1 FROM clients c WHERE c.id = s.client AND c.environment = s.environment)`},
		{"a step without its mapping or run", `SELECT count(*) FROM steps s WHERE s.mapping <> 0 AND s.mapping NOT IN (SELECT id FROM names)
			OR s.run <> 0 AND s.run NOT IN (SELECT id FROM names) OR s.sent_run <> 0 AND s.sent_run NOT IN (SELECT id FROM names)`},
		{"a state without its step",
			`SELECT count(*) FROM history h WHERE NOT EXISTS (SELECT 1 FROM steps s WHERE s.id = h.step AND s.version > h.version)`},
		{"a completion without its step", `SELECT count(*) FROM tracked t WHERE t.step <> 0 AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.id = t.step)`},
	} {
		var n int64
		if _, err := first(ctx, db, []any{&n}, c.query); err != nil {
			return err
		}
		if n > 0 {
			return damaged(path, "the ledger contradicts itself: it has %s", c.what)
		}
	}
	return nil
}
