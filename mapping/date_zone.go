package mapping

import "time"

// unixFromWall is the instant at which a clock in the zone shows wall (the
// seconds of Unix time at which a clock in UTC shows it). When clocks change
// there may be none, or two; neither is guessed.
func unixFromWall(wall int64, zone *time.Location) (int64, *Refusal) {
	if zone == time.UTC {
		return wall, nil
	}
	w := time.Unix(wall, 0).UTC()
	t := time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), 0, zone)
	if _, offset := t.Zone(); t.Unix()+int64(offset) != wall {
		return 0, refuse("time-skipped", "is a time that never was in "+zone.String()+": the clocks went forward over it",
			"correct the time, or write its offset in ISO 8601 (2026-01-31T12:00:00+00:00)")
	}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		_, before := start.Add(-time.Second).Zone()
		if wall-int64(before) < start.Unix() {
			return 0, refuseTwice(zone)
		}
	}
	if !end.IsZero() {
		_, after := end.Zone()
		if wall-int64(after) >= end.Unix() {
			return 0, refuseTwice(zone)
		}
	}
	return t.Unix(), nil
}

func refuseTwice(zone *time.Location) *Refusal {
	return refuse("time-twice", "is a time that came twice in "+zone.String()+": the clocks went back over it",
		"write its offset in ISO 8601 (2026-01-31T12:00:00+00:00)")
}
