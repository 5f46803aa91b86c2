package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"claimsheet/mapping/problem"
)

// checkVersion refuses a ledger that a newer Claimsheet has written: what it
// added would be lost or misread. An earlier version can be read, and is brought
// to the present one before anything is written.
func checkVersion(ctx context.Context, c *sql.Conn, path string) (version int, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, damaged(path, "the ledger cannot be read: %v", err)
	}
	switch {
	case version > schemaVersion:
		p := problem.At(problem.Where{File: path}, "ledger-newer",
			"the ledger has version %d, written by a newer Claimsheet; this one knows version %d", version, schemaVersion)
		return 0, refusal{p.Hinted("Use the newer Claimsheet."), nil}
	case version < 1:
		return 0, damaged(path, "the ledger has version %d; 1 to %d is expected", version, schemaVersion)
	}
	return version, nil
}

// checkSound refuses a ledger with damage that can be seen. The structure of
// the whole file is checked; the tables that tell what was created are checked
// together with their indexes, because a step missing from an index
// would be created again. What the structure cannot show, a byte changed inside
// a text, the rows' own sums do.
func checkSound(ctx context.Context, c *sql.Conn, path string, version int) error {
	for _, check := range []string{"quick_check(1)", "integrity_check(owners)", "integrity_check(steps)", "integrity_check(events)"} {
		var verdict string
		if err := c.QueryRowContext(ctx, "PRAGMA "+check).Scan(&verdict); err != nil {
			return damaged(path, "the ledger cannot be read: %v", err)
		}
		if verdict != "ok" {
			// The verdict may span lines and names tables and pages, no contents.
			return damaged(path, "the ledger is damaged: %q", verdict)
		}
	}
	if err := checkSchema(ctx, c, path, version); err != nil {
		return err
	}
	var strays int
	err := c.QueryRowContext(ctx, `
		SELECT count(*) FROM steps s LEFT JOIN events e ON e.id = s.last AND e.step = s.id
		WHERE e.state IS NOT s.state OR e.id <> (SELECT max(id) FROM events WHERE step = s.id)`).Scan(&strays)
	if err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	if strays > 0 {
		return damaged(path, "the ledger contradicts itself: %s not follow from their events", count(strays, "step does", "steps do"))
	}
	return checkSums(ctx, c, path)
}

// count is n with the word that fits it.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
