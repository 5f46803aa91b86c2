package reports

import "claimsheet/importer"

type statusCount struct {
	status importer.Status
	count  int
}

// byStatus lists counts, what is well first.
func byStatus(c importer.Counts) []statusCount {
	return []statusCount{
		{importer.DoneRow, c.Done},
		{importer.Unchanged, c.Unchanged},
		{importer.Planned, c.Planned},
		{importer.Changed, c.Changed},
		{importer.Skipped, c.Skipped},
		{importer.NotStarted, c.NotStarted},
		{importer.FailedRow, c.Failed},
		{importer.Uncertain, c.Uncertain},
		{importer.Invalid, c.Invalid},
	}
}

type kindCount struct {
	kind   string // as --json names it
	count  int
	one    string // in words
	plural string
}

// byKind lists requests: those that create something, in the order in which a
// client's plan makes them, then those that only read.
func byKind(r importer.Requests) []kindCount {
	return []kindCount{
		{"client", r.Client, "client", "clients"},
		{"claim", r.Claim, "claim", "claims"},
		{"activity", r.Activity, "activity", "activities"},
		{"link", r.Link, "link", "links"},
		{"lookup", r.Lookup, "look-up", "look-ups"},
		{"templates", r.Templates, "reading of the templates", "readings of the templates"},
	}
}
