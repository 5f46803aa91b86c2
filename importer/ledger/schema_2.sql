-- Version 2 finds the step that has an id or a redirect url of the service,
-- whatever its kind: no two steps may have the same.
DROP INDEX steps_clients;
CREATE INDEX steps_ids ON steps (created, kind) WHERE state = 'done' AND created <> '';
CREATE INDEX steps_urls ON steps (url) WHERE state = 'done' AND url <> '';
PRAGMA user_version = 2;
