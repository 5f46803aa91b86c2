package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"claimsheet/mapping/problem"
)

// checkVersion refuses a ledger that a newer Claimsheet has written: what it
// added would be lost or misread.
func checkVersion(ctx context.Context, c *sql.Conn, path string) error {
	var version int
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	switch {
	case version > schemaVersion:
		p := problem.At(problem.Where{File: path}, "ledger-newer",
			"the ledger has version %d, written by a newer Claimsheet; this one knows version %d", version, schemaVersion)
		return refusal{p.Hinted("Use the newer Claimsheet."), nil}
	case version < schemaVersion:
		return damaged(path, "the ledger has version %d; %d is expected", version, schemaVersion)
	}
	return nil
}

// checkSound refuses a ledger with damage that can be seen. The structure of
// the whole file is checked; the tables that decide whether a thing was created
// are checked together with their indexes, because a step missing from an index
// would be created again. SQLite keeps no checksums: a byte changed inside a
// text is not seen.
func checkSound(ctx context.Context, c *sql.Conn, path string) error {
	for _, check := range []string{"quick_check(1)", "integrity_check(owners)", "integrity_check(steps)"} {
		var verdict string
		if err := c.QueryRowContext(ctx, "PRAGMA "+check).Scan(&verdict); err != nil {
			return damaged(path, "the ledger cannot be read: %v", err)
		}
		if verdict != "ok" {
			// The verdict may span lines and names tables and pages, no contents.
			return damaged(path, "the ledger is damaged: %q", verdict)
		}
	}
	var strays int
	err := c.QueryRowContext(ctx, `
		SELECT count(*) FROM steps s LEFT JOIN events e ON e.id = s.last AND e.step = s.id
		WHERE e.state IS NOT s.state`).Scan(&strays)
	if err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	if strays > 0 {
		return damaged(path, "the ledger contradicts itself: %s not follow from their events", count(strays, "step does", "steps do"))
	}
	return nil
}

// count is n with the word that fits it.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
