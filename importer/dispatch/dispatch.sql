-- The run that a coordinator hands over to workers; its clients are in River's jobs. See
-- package dispatch. Nothing here must last: what is done is in the ledger. The table is empty
-- when no such run is under way, or was killed.
--
-- What is left of River's tables where some are missing, as after a dump without them, would
-- say that all are there.

DROP TABLE IF EXISTS dispatched_runs, river_client, river_client_queue, river_job, river_leader, river_migration, river_notification, river_queue CASCADE;
DROP TYPE IF EXISTS river_job_state CASCADE;

CREATE TABLE dispatched_runs (
    run         text COLLATE "C" PRIMARY KEY,
    coordinator bigint NOT NULL,           -- of sessions: workers begin nothing when it is silent
    spec        json NOT NULL,             -- what workers need for every client of the run
    rules       json NOT NULL DEFAULT '{}', -- the stop rules, which all processes change
    stopped     boolean NOT NULL DEFAULT false -- workers begin nothing any more
);
