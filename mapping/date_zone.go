package mapping

import "time"

// AmbiguousTimes is what becomes of a time that came twice, because the clocks
// went back over it.
type AmbiguousTimes string

// The ways to take a time that came twice.
const (
	RefuseAmbiguous  AmbiguousTimes = ""        // the cell is refused
	EarlierAmbiguous AmbiguousTimes = "earlier" // the first of the two is meant
)

// unixFromWall is the instant at which a clock in the zone shows wall (the
// seconds of Unix time at which a clock in UTC shows it). When clocks change
// there may be none, which is refused, or two, of which none is guessed.
func unixFromWall(wall int64, zone *time.Location, twice AmbiguousTimes) (int64, *Refusal) {
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
		if earlier := wall - int64(before); earlier < start.Unix() {
			return earlier, twice.refuse(zone)
		}
	}
	if !end.IsZero() {
		_, after := end.Zone()
		if wall-int64(after) >= end.Unix() {
			return t.Unix(), twice.refuse(zone)
		}
	}
	return t.Unix(), nil
}

func (a AmbiguousTimes) refuse(zone *time.Location) *Refusal {
	if a == EarlierAmbiguous {
		return nil
	}
	return refuse("time-twice", "is a time that came twice in "+zone.String()+": the clocks went back over it",
		"write its offset in ISO 8601 (2026-01-31T12:00:00+00:00), or sheet: {ambiguous_times: earlier} in the mapping")
}
