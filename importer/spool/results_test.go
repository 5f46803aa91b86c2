package spool_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"claimsheet/importer/result"
	"claimsheet/importer/spool"
)

// Results come back by row and by client, in whatever order they were added.
func TestResultsComeBackInOrder(t *testing.T) {
	type client struct {
		number int
		key    string
		rows   []result.Row
		steps  []result.Step
	}
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		var clients []client
		var rows []result.Row
		var steps []result.Step
		text := rapid.String()
		for n := range rapid.IntRange(0, 30).Draw(r, "clients") {
			c := client{number: n + 1, key: fmt.Sprint("client ", n)}
			for range rapid.IntRange(1, 3).Draw(r, "rows") {
				row := result.Row{Row: len(rows) + 2, Client: c.number, Status: result.Planned, ClientID: text.Draw(r, "id"), URL: text.Draw(r, "url"),
					FailedStep: text.Draw(r, "step"), Error: text.Draw(r, "error"), Advice: text.Draw(r, "advice"),
					ClaimIDs: rapid.SliceOfN(text, 0, 3).Draw(r, "claims"), Contacts: rapid.SliceOfN(text, 0, 2).Draw(r, "contacts")}
				rows, c.rows = append(rows, row), append(c.rows, row)
			}
			for i := range rapid.IntRange(0, 3).Draw(r, "steps") {
				s := result.Step{Step: fmt.Sprint("step ", i), Kind: text.Draw(r, "kind"), Title: text.Draw(r, "title"), State: text.Draw(r, "state"),
					ID: text.Draw(r, "step id"), Attempts: rapid.Int().Draw(r, "attempts"), Status: rapid.Int().Draw(r, "status")}
				if at := rapid.Int64Range(0, 1<<51).Draw(r, "at"); at > 0 {
					s.At = time.UnixMicro(at).UTC()
				}
				c.steps = append(c.steps, s)
				s.Number, s.Client, s.ClientKey = len(steps)+1, c.number, c.key
				steps = append(steps, s)
			}
			clients = append(clients, c)
		}
		results, err := spool.NewResults(dir)
		must(r, err)
		defer results.Close()
		for range rapid.IntRange(0, 2).Draw(r, "rows without a client") {
			row := result.Row{Row: len(rows) + 2, Status: result.Skipped, Advice: "left out"}
			rows, clients = append(rows, row), append(clients, client{rows: []result.Row{row}})
		}
		for _, c := range rapid.Permutation(clients).Draw(r, "order") {
			must(r, results.Add(c.number, c.key, c.rows, c.steps))
		}
		same(r, "rows", rows, all(r, results.Rows()), cmpopts.EquateEmpty())
		same(r, "steps", steps, all(r, results.Steps()))
	})
}

func all[T any](t *rapid.T, list iter.Seq2[T, error]) []T {
	var got []T
	for v, err := range list {
		must(t, err)
		got = append(got, v)
	}
	return slices.Clip(got)
}
