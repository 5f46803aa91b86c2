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
	kind  string
	count int
}

// byKind lists requests: those that create something, in the order in which a
// client's plan makes them, then those that only read.
func byKind(r importer.Requests) []kindCount {
	return []kindCount{
		{"client", r.Client},
		{"claim", r.Claim},
		{"activity", r.Activity},
		{"link", r.Link},
		{"lookup", r.Lookup},
		{"templates", r.Templates},
	}
}
