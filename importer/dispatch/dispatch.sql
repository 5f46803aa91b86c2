-- What a run that is carried out by workers hands over to them; see package dispatch. Nothing
-- here must last: what is done is in the ledger. The tables are empty when no such run is
-- under way, or was killed.

CREATE TABLE IF NOT EXISTS dispatched_runs (
    run         text COLLATE "C" PRIMARY KEY,
    coordinator bigint NOT NULL,          -- of sessions: nothing is begun when that has ended
    spec        bytea NOT NULL,           -- what workers need for every client of the run
    rules       bytea NOT NULL DEFAULT '', -- the stop rules, which all processes change
    stopped     boolean NOT NULL DEFAULT false -- nothing is begun any more
);

-- Where dispatched_runs was lost, this table has lost its reference too, so it is made anew.
DROP TABLE IF EXISTS dispatched_clients;

CREATE TABLE dispatched_clients (
    run     text COLLATE "C" NOT NULL REFERENCES dispatched_runs ON DELETE CASCADE,
    number  bigint NOT NULL,
    plan    bytea NOT NULL,
    job     bigint NOT NULL,      -- of river_job
    queued  timestamptz NOT NULL, -- when that was inserted
    begun   bigint,               -- of sessions: which worker carries the plan out
    attempt text COLLATE "C",     -- which delivery of the job that is
    outcome bytea,
    PRIMARY KEY (run, number)
);

CREATE INDEX dispatched_clients_done ON dispatched_clients (run) WHERE outcome IS NOT NULL;
