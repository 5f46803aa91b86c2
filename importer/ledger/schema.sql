-- The ledger's tables. All times are microseconds since 1970, UTC. A text
-- that says nothing is '', a number that says nothing 0. Kinds, states and ways are
-- numbers; states.go lists what they mean.

-- counter is one row: the highest number that is reserved for an event, because every event of the ledger
-- has a number of its own, which grows.
CREATE TABLE counter (
    version INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (0);

-- names are texts that many rows repeat: environments, which are the services and with them
-- the ledger's scopes, the ids of runs and the names of mappings. No row has the number 0; it stands for ''.
CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- clients are whose steps and rows the others are.
CREATE TABLE clients (
    id          INTEGER PRIMARY KEY,
    environment INTEGER NOT NULL, -- of names
    client      TEXT NOT NULL,    -- the key
    space       TEXT NOT NULL,    -- the key space
    UNIQUE (environment, client, space)
) STRICT;

-- steps has one row for each step: its state now, and what the last event that had it has
-- brought. As a rule a step is an intent and its outcome, and both are in this row: sent,
-- sent_at and sent_run are of the intent.
CREATE TABLE steps (
    id          INTEGER PRIMARY KEY,
    client      INTEGER NOT NULL, -- of clients
    environment INTEGER NOT NULL, -- of the client
    mapping     INTEGER NOT NULL, -- of names; 0 for the step client, which all mappings share
    step        TEXT NOT NULL,
    kind        INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    version     INTEGER NOT NULL, -- the number of the last event
    attempts    INTEGER NOT NULL, -- how often it became an intent
    sent        INTEGER NOT NULL, -- the number of the last intent, 0 for none
    sent_at     INTEGER NOT NULL,
    sent_run    INTEGER NOT NULL, -- of names
    at          INTEGER NOT NULL,
    run         INTEGER NOT NULL, -- of names
    via         INTEGER NOT NULL,
    status      INTEGER NOT NULL, -- of HTTP
    reason      TEXT NOT NULL,
    request     BLOB,
    digest      BLOB,             -- SHA-256 of the request
    answer      BLOB,
    remote_id   BLOB,             -- the id in the service: u and the 16 bytes of a UUID, or t and a text
    url         TEXT NOT NULL,
    not_found   INTEGER NOT NULL -- 1 when a look-up has not found it
) STRICT;

CREATE UNIQUE INDEX steps_of_client ON steps (client, mapping, step);

-- Few steps are sent or uncertain at any time. SQLite would make a table for IN at
-- each write.
CREATE INDEX steps_undecided ON steps (environment) WHERE state = 1 OR state = 4;

-- No two steps of a kind have the same id, no two steps the same UUID (x'75' is u), and no two clients the same url.
CREATE UNIQUE INDEX steps_ids ON steps (environment, remote_id, CASE WHEN substr(remote_id, 1, 1) = x'75' THEN 0 ELSE kind END)
	WHERE state = 2 AND remote_id IS NOT NULL;
CREATE INDEX steps_urls ON steps (url) WHERE state = 2 AND url <> '';

-- history has the rows of steps as they were before they changed otherwise than from an
-- intent to its outcome.
CREATE TABLE history (
    version     INTEGER PRIMARY KEY,
    step        INTEGER NOT NULL, -- of steps
    state       INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    sent        INTEGER NOT NULL,
    sent_at     INTEGER NOT NULL,
    sent_run    INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    via         INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    request     BLOB,
    digest      BLOB,
    answer      BLOB,
    remote_id   BLOB,
    url         TEXT NOT NULL,
    not_found   INTEGER NOT NULL -- 1 when a look-up has not found it
) STRICT;

CREATE INDEX history_of_step ON history (step);

-- addresses are whose an address is, as a hash; address.go says which of a client's count.
CREATE TABLE addresses (
    environment INTEGER NOT NULL,
    address     TEXT NOT NULL,
    client      INTEGER NOT NULL, -- of clients
    PRIMARY KEY (environment, address)
) STRICT, WITHOUT ROWID;

-- definitions are what the names of a mapping's steps are made from.
CREATE TABLE definitions (
    environment TEXT NOT NULL,
    mapping     TEXT NOT NULL,
    definition  TEXT NOT NULL, -- JSON
    PRIMARY KEY (environment, mapping)
) STRICT, WITHOUT ROWID;

-- settings are notes about an environment or the address of a service, or, without one, about the ledger.
CREATE TABLE settings (
    environment TEXT NOT NULL,
    name        TEXT NOT NULL,
    value       TEXT NOT NULL,
    PRIMARY KEY (environment, name)
) STRICT, WITHOUT ROWID;

-- runs are the runs, each from its start to the workbook that it wrote.
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

-- outputs are the workbooks last written to each path, to tell ours from one edited
-- since.
CREATE TABLE outputs (
    path   TEXT PRIMARY KEY,
    run    TEXT NOT NULL, -- of runs
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- tracked is what the service has said about things that runs created; see tracked.go.
CREATE TABLE tracked (
    id          INTEGER PRIMARY KEY,
    service     TEXT NOT NULL,    -- its base url
    key         TEXT NOT NULL,    -- the same for an event that arrives again
    client      INTEGER NOT NULL, -- of clients; 0 while nothing is known by the ids
    step        INTEGER NOT NULL, -- of steps; 0 with client
    kind        TEXT NOT NULL,
    status      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    client_id   TEXT NOT NULL,    -- the ids that the service names
    claim_id    TEXT NOT NULL,
    activity_id TEXT NOT NULL,
    activity    TEXT NOT NULL,    -- its name
    UNIQUE (service, key)
) STRICT;

CREATE INDEX tracked_of_client ON tracked (client);
