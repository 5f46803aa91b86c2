package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// checkSchema refuses a ledger whose tables are not the ones of its version: a view in which a letter has changed would say something else.
func checkSchema(ctx context.Context, c *sql.Conn, path string, version int) error {
	want, err := soundSchema(version)
	if err != nil {
		return err
	}
	got, err := schemaOf(ctx, c)
	if err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	if got != want {
		return damaged(path, "the ledger's tables are not as Claimsheet made them")
	}
	return nil
}

// soundSchema is what schemaOf gives for a new ledger of a version.
func soundSchema(version int) (string, error) {
	ctx := context.Background()
	db, err := connect(":memory:")
	if err != nil {
		return "", err
	}
	c, err := db.Conn(ctx)
	if err != nil {
		return "", errors.Join(err, db.Close())
	}
	_, err = c.ExecContext(ctx, schemaOfVersion(version))
	text := ""
	if err == nil {
		text, err = schemaOf(ctx, c)
	}
	return text, errors.Join(err, c.Close(), db.Close())
}

// schemaOf is the text of all tables, indexes and views. Statistics, which
// other programs may gather, are left out.
func schemaOf(ctx context.Context, c *sql.Conn) (text string, err error) {
	err = c.QueryRowContext(ctx, `
		SELECT group_concat(type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, ''), char(10) ORDER BY type, name)
		FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_stat%' ESCAPE '\'`).Scan(&text)
	return text, err
}
