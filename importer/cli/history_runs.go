package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/reports"
)

// toldRun is a run as --json tells it.
type toldRun struct {
	Run       string             `json:"run"`
	Started   time.Time          `json:"started"`
	Finished  *time.Time         `json:"finished"` // null for a run that did not end
	Mapping   string             `json:"mapping"`
	Input     string             `json:"input"`
	KeptInput bool               `json:"keptInput"` // claimsheet report can write its workbook again
	Results   string             `json:"results"`
	Rows      *importer.Counts   `json:"rows"`
	Clients   *importer.Counts   `json:"clients"`
	Requests  *importer.Requests `json:"requests"`
	Version   string             `json:"version"`
}

// listRuns prints the runs of the environment.
func (p *program) listRuns(ctx context.Context, d *desk, asJSON bool) error {
	runs, err := d.runsOf(ctx)
	if err != nil {
		return err
	}
	told := make([]toldRun, len(runs))
	for i, r := range runs {
		if told[i], err = tellRun(r); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return writeObject(p.Out, struct {
			Environment string    `json:"environment"`
			Runs        []toldRun `json:"runs"`
		}{d.setup.env.Name, told})
	case d.known == nil:
		fmt.Fprintf(p.Out, "nothing was ever run here (there is no ledger in %s)\n", d.setup.state)
		return nil
	case len(runs) == 0:
		fmt.Fprintf(p.Out, "nothing was ever run in the environment “%s”\n", d.setup.env.Name)
		return nil
	}
	fmt.Fprintf(p.Out, "Runs in the environment “%s”, the newest first:\n\n", d.setup.env.Name)
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSTARTED\tTOOK\tMAPPING\tSHEET\tROWS")
	short := shortIDs(runs)
	for i, r := range runs {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", short[i], moment(r.Started), took(r), oneLine(r.Mapping), oneLine(r.Input), rowsInWords(told[i].Rows))
	}
	return table.Flush()
}

func tellRun(r ledger.Run) (toldRun, error) {
	told := toldRun{Run: r.ID, Started: r.Started, Mapping: r.Mapping, Input: r.Input, KeptInput: r.KeptInput != "", Results: r.Output, Version: r.Version}
	if r.Finished.IsZero() {
		return told, nil
	}
	s, err := readSummary(r.Summary)
	told.Finished, told.Rows, told.Clients, told.Requests = &r.Finished, &s.Rows, &s.Clients, &s.Requests
	return told, err
}

// took is how long a run took, in whole seconds.
func took(r ledger.Run) string {
	if r.Finished.IsZero() {
		return "–"
	}
	return r.Finished.Sub(r.Started).Round(time.Second).String()
}

// rowsInWords is how a run's rows ended, the commonest words last.
func rowsInWords(c *importer.Counts) string {
	if c == nil {
		return "did not end: it is still running, or was stopped from outside"
	}
	words := []string{}
	for _, n := range []struct {
		count int
		word  string
	}{
		{c.Invalid, "invalid"}, {c.Uncertain, "uncertain"}, {c.Failed, "failed"}, {c.NotStarted, "not started"},
		{c.Changed, "changed"}, {c.Done, "done"}, {c.Unchanged, "unchanged"}, {c.Skipped, "skipped"},
	} {
		if n.count > 0 {
			words = append(words, fmt.Sprintf("%d %s", n.count, n.word))
		}
	}
	if len(words) == 0 {
		return "0"
	}
	return strings.Join(words, ", ")
}

// shortIDs are the ids' first characters, as many as tell them apart.
func shortIDs(runs []ledger.Run) []string {
	short := make([]string, len(runs))
	for n := 8; ; n += 4 {
		seen := map[string]bool{}
		for i, r := range runs {
			short[i] = r.ID[:min(n, len(r.ID))]
			seen[short[i]] = true
		}
		if len(seen) == len(runs) {
			return short
		}
	}
}

// writeObject prints one JSON object on a line.
func writeObject(w io.Writer, v any) error { return reports.WriteObject(w, v) }
