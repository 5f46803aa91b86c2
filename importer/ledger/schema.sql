-- The ledger's schema, version 1. All times are microseconds since 1970, UTC.
-- "CLAM" and the version let Open tell a ledger from any other database.
PRAGMA application_id = 0x434C414D;
PRAGMA user_version = 1;

-- Whose steps they are. Named once, because a client's key stands in many places.
CREATE TABLE owners (
    id          INTEGER PRIMARY KEY,
    environment TEXT NOT NULL,
    space       TEXT NOT NULL,
    client      TEXT NOT NULL,
    UNIQUE (environment, space, client)
) STRICT;

-- The current state of every step. It follows from the events: last, asked and
-- answered are the events that hold the facts, so that no body is stored twice.
-- sum, here and in events, is the CRC-32C of the row: SQLite has none of its own.
CREATE TABLE steps (
    id       INTEGER PRIMARY KEY,
    owner    INTEGER NOT NULL REFERENCES owners (id),
    mapping  TEXT NOT NULL,
    step     TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('client', 'claim', 'activity', 'link')),
    state    TEXT NOT NULL CHECK (state IN
        ('intent', 'done', 'failed', 'not sent', 'uncertain', 'parked', 'given up')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    last     INTEGER NOT NULL,
    asked    INTEGER, -- the last event with data or a digest
    answered INTEGER, -- the last event with an answer since the last intent
    created  TEXT NOT NULL, -- the id
    url      TEXT NOT NULL,
    sum      INTEGER NOT NULL,
    UNIQUE (owner, mapping, step)
) STRICT;

-- Few steps are in these states at any time, so the index stays small.
CREATE INDEX steps_unsettled ON steps (state)
    WHERE state IN ('intent', 'uncertain', 'parked');

-- Finds the clients that one id of the service stands for.
CREATE INDEX steps_clients ON steps (created) WHERE kind = 'client' AND state = 'done';

-- All that ever happened, in the order in which it was taken. Append-only.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    step    INTEGER NOT NULL REFERENCES steps (id),
    state   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    boot    TEXT NOT NULL,    -- names a start of the machine; '' where that is not known
    uptime  INTEGER NOT NULL, -- microseconds since that start, sleep included
    run     TEXT NOT NULL,
    via     TEXT NOT NULL,
    status  INTEGER NOT NULL,
    reason  TEXT NOT NULL,
    data    BLOB,
    digest  TEXT NOT NULL,
    answer  BLOB,
    created TEXT NOT NULL,
    url     TEXT NOT NULL,
    sum     INTEGER NOT NULL
) STRICT;

CREATE INDEX events_of_step ON events (step);

-- A step with its facts gathered: what Go calls a Step.
CREATE VIEW step_now AS
SELECT o.environment, o.space, o.client, s.mapping, s.step, s.state, l.at, l.boot, l.uptime, l.run, s.kind,
       l.via, l.status, l.reason, a.data, coalesce(a.digest, '') AS digest, w.answer,
       s.created, s.url, s.attempts, s.owner, s.last
FROM steps s
JOIN owners o ON o.id = s.owner
JOIN events l ON l.id = s.last
LEFT JOIN events a ON a.id = s.asked
LEFT JOIN events w ON w.id = s.answered;

CREATE TABLE runs (
    id               TEXT PRIMARY KEY,
    environment      TEXT NOT NULL,
    environment_name TEXT NOT NULL,
    mapping          TEXT NOT NULL,
    mapping_file     TEXT NOT NULL,
    mapping_digest   TEXT NOT NULL,
    input            TEXT NOT NULL,
    input_digest     TEXT NOT NULL,
    kept_input       TEXT NOT NULL,
    version          TEXT NOT NULL,
    started          INTEGER NOT NULL,
    finished         INTEGER, -- NULL while it runs, and for ever when it was killed
    output           TEXT NOT NULL,
    output_digest    TEXT NOT NULL,
    summary          BLOB
) STRICT, WITHOUT ROWID;

-- What the names of a mapping's steps are made from.
CREATE TABLE definitions (
    environment TEXT NOT NULL,
    mapping     TEXT NOT NULL,
    definition  TEXT NOT NULL, -- JSON
    at          INTEGER NOT NULL,
    PRIMARY KEY (environment, mapping)
) STRICT, WITHOUT ROWID;

-- The workbook last written to each path, to tell ours from one edited since.
CREATE TABLE outputs (
    path   TEXT PRIMARY KEY,
    run    TEXT NOT NULL REFERENCES runs (id),
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run_rows (
    run         TEXT NOT NULL REFERENCES runs (id),
    source_row  INTEGER NOT NULL,
    status      TEXT NOT NULL,
    owner       INTEGER REFERENCES owners (id), -- NULL: a row without a client
    number      INTEGER NOT NULL,
    client_id   TEXT NOT NULL,
    claim_ids   TEXT NOT NULL, -- a JSON array
    url         TEXT NOT NULL,
    failed_step TEXT NOT NULL,
    error       TEXT NOT NULL,
    advice      TEXT NOT NULL,
    PRIMARY KEY (run, source_row)
) STRICT, WITHOUT ROWID;

-- Names the step rather than its row in steps: a planned step has none yet.
CREATE TABLE run_steps (
    run     TEXT NOT NULL REFERENCES runs (id),
    number  INTEGER NOT NULL,
    owner   INTEGER NOT NULL REFERENCES owners (id),
    mapping TEXT NOT NULL,
    step    TEXT NOT NULL,
    kind    TEXT NOT NULL,
    title   TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
