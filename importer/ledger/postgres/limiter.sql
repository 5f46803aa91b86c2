
-- pace is how fast all processes that use this ledger may send to a service; see
-- rate.State, and limiter.go. It has no personal data, and no more rows than
-- there are services. Times are microseconds since 1970 by the server's clock, 0 for never.
CREATE TABLE pace (
    service       text COLLATE "C" PRIMARY KEY, -- its base url
    last          bigint NOT NULL DEFAULT 0, -- the latest departure that was given to a process
    rate          double precision NOT NULL DEFAULT 0, -- requests per second; 0 while nothing but a ceiling limits them
    step          double precision NOT NULL DEFAULT 0, -- what a second of good answers adds to rate
    restore       double precision NOT NULL DEFAULT 0, -- the rate at which the limit ends again
    cuts          bigint NOT NULL DEFAULT 0, -- how often rate was cut
    refusals      bigint NOT NULL DEFAULT 0, -- in a row
    good          bigint NOT NULL DEFAULT 0, -- good answers in a row
    paused_until  bigint NOT NULL DEFAULT 0, -- nothing is sent before
    reason        text NOT NULL DEFAULT '',
    ceiling       double precision NOT NULL DEFAULT 0, -- the lowest of the processes that send
    ceiling_until bigint NOT NULL DEFAULT 0,
    second        bigint NOT NULL DEFAULT 0, -- of the newest departures, which are count;
    count         bigint NOT NULL DEFAULT 0,
    before        bigint NOT NULL DEFAULT 0 -- and those of the second before it
);
