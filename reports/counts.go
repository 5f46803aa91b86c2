package reports

import "claimsheet/importer/result"

type statusCount struct {
	status result.Status
	count  int
}

// byStatus lists counts, what is well first.
func byStatus(c result.Counts) []statusCount {
	return []statusCount{
		{result.Done, c.Done},
		{result.Unchanged, c.Unchanged},
		{result.Planned, c.Planned},
		{result.Changed, c.Changed},
		{result.Skipped, c.Skipped},
		{result.NotStarted, c.NotStarted},
		{result.Failed, c.Failed},
		{result.Uncertain, c.Uncertain},
		{result.Invalid, c.Invalid},
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
func byKind(r result.Requests) []kindCount {
	return []kindCount{
		{"client", r.Client, "client", "clients"},
		{"claim", r.Claim, "claim", "claims"},
		{"activity", r.Activity, "activity", "activities"},
		{"link", r.Link, "link", "links"},
		{"lookup", r.Lookup, "look-up", "look-ups"},
		{"templates", r.Templates, "reading of the templates", "readings of the templates"},
	}
}
