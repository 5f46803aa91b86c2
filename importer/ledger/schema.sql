-- The ledger's tables. All times are microseconds since 1970, UTC. A text
-- that says nothing is '', a number that says nothing 0. Kinds, states and ways are
-- numbers; states.go lists what they mean.

-- counter is one row: the number of the last event, because every event of the ledger
-- has a number of its own, which grows; and whether steps may be intents: 1 while a run
-- writes the ledger, and as the ledger was left when it was closed.
CREATE TABLE counter (
    event   INTEGER NOT NULL,
    intents INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (0, 0);

-- environments are the services, and with them the ledger's scopes.
CREATE TABLE environments (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- names are texts that many rows repeat: the ids of runs and the
-- names of mappings. No row has the number 0; it stands for ''.
CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- clients are whose steps and rows the others are.
CREATE TABLE clients (
    id          INTEGER PRIMARY KEY,
    environment INTEGER NOT NULL, -- of environments
    client      TEXT NOT NULL,    -- the key
    space       TEXT NOT NULL,    -- the key space
    UNIQUE (environment, client, space)
) STRICT;

CREATE INDEX clients_beyond_ascii ON clients (environment) WHERE client GLOB '*[^ -~]*';

-- steps has one row for each step: its state now, and what the last attempt sent and
-- brought. As a rule a step is an intent and its outcome, and both are in this row:
-- the intent in sent_…, and the outcome in event, at, run, via, status
-- and reason. While the outcome is missing, the intent is there, and sent_… is 0.
-- Other events are in history.
CREATE TABLE steps (
    id          INTEGER PRIMARY KEY,
    client      INTEGER NOT NULL, -- of clients
    mapping     INTEGER NOT NULL, -- of names; 0 for the step client, which all mappings share
    step        TEXT NOT NULL,
    environment INTEGER NOT NULL, -- of the client
    kind        INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    attempts    INTEGER NOT NULL, -- how often it became an intent
    history     INTEGER NOT NULL, -- how many events of it are in history
    inherited   INTEGER NOT NULL, -- which of request, response, remote_id and url earlier events have brought (bits 1, 2, 4, 8); 16: the last event dropped their url, another client had it
    sent_event  INTEGER NOT NULL,
    sent_at     INTEGER NOT NULL,
    sent_run    INTEGER NOT NULL, -- of names
    event       INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    via         INTEGER NOT NULL,
    status      INTEGER NOT NULL, -- of HTTP
    reason      TEXT NOT NULL,
    request     BLOB,
    digest      ANY NOT NULL,     -- of the request: 32 bytes, or a text that is no SHA-256
    response    BLOB,
    remote_id   ANY NOT NULL,     -- the id in the service: 16 bytes for a UUID, or a text
    url         TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX steps_of_client ON steps (client, mapping, step);

-- Few steps are uncertain or parked at any time. A client that a killed run was
-- sending is undecided too.
CREATE INDEX steps_undecided ON steps (environment) WHERE state IN (5, 6) OR state = 1 AND kind = 1;

-- No two steps of a kind have the same id, and no two clients the same url.
CREATE UNIQUE INDEX steps_ids ON steps (environment, kind, remote_id) WHERE state = 2 AND remote_id <> '';
CREATE INDEX steps_urls ON steps (url) WHERE state = 2 AND url <> '';

-- The steps that a person decided.
CREATE INDEX steps_by_hand ON steps (environment, event) WHERE via = 3;

-- history has the events that are not in the row of their step: those of earlier
-- attempts, the first of several outcomes, and what a later event has replaced.
CREATE TABLE history (
    event     INTEGER PRIMARY KEY,
    step      INTEGER NOT NULL, -- of steps
    state     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    run       INTEGER NOT NULL,
    via       INTEGER NOT NULL, -- plus 16: it dropped a url
    status    INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    request   BLOB,
    digest    ANY NOT NULL,
    response  BLOB,
    remote_id ANY NOT NULL,
    url       TEXT NOT NULL
) STRICT;

CREATE INDEX history_of_step ON history (step);

-- addresses are whose an address is by which clients are looked up, as a hash.
CREATE TABLE addresses (
    environment INTEGER NOT NULL,
    address     TEXT NOT NULL,
    client      INTEGER NOT NULL, -- of clients
    PRIMARY KEY (environment, address)
) STRICT, WITHOUT ROWID;

-- claim_mappings are the mappings that have sent claims: a client may have the same
-- claim under another mapping's name only where there are several.
CREATE TABLE claim_mappings (
    environment INTEGER NOT NULL,
    mapping     INTEGER NOT NULL,
    PRIMARY KEY (environment, mapping)
) STRICT, WITHOUT ROWID;

-- definitions are what the names of a mapping's steps are made from.
CREATE TABLE definitions (
    environment TEXT NOT NULL,
    mapping     TEXT NOT NULL,
    definition  TEXT NOT NULL, -- JSON
    PRIMARY KEY (environment, mapping)
) STRICT, WITHOUT ROWID;

-- settings are what users have said about an environment.
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
    completed   INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    client_id   TEXT NOT NULL,    -- the ids that the service names
    claim_id    TEXT NOT NULL,
    activity_id TEXT NOT NULL,
    activity    TEXT NOT NULL,    -- its name
    UNIQUE (service, key)
) STRICT;

CREATE INDEX tracked_of_client ON tracked (client);
