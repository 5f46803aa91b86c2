-- Version 3. run_unchanged lists the rows of a run for whose clients nothing was
-- new: instead of a row in run_rows and rows in run_steps it has numbers of owners
-- and steps, many clients in one blob (see unchanged.go). sum is the CRC-32C of list.
CREATE TABLE run_unchanged (
    id   INTEGER PRIMARY KEY,
    run  TEXT NOT NULL REFERENCES runs (id),
    list BLOB NOT NULL,
    sum  INTEGER NOT NULL
) STRICT;

CREATE INDEX run_unchanged_of_run ON run_unchanged (run);

-- Runs whose rows and lists of steps were dropped, because there are newer runs.
CREATE TABLE pruned_runs (
    run TEXT PRIMARY KEY REFERENCES runs (id),
    at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 3;
