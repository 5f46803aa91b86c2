package importer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// A draft gives every row back by its number and every call by its client,
// whatever the order in which clients were through.
func TestDraftComesBackInOrder(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		clients := rapid.IntRange(0, 30).Draw(r, "clients")
		var outcomes []Outcome
		var rows []result.Row
		var steps []result.Step
		text := rapid.String()
		for n := 1; n <= clients; n++ {
			o := Outcome{Number: n, Client: mapping.Identity{Space: "n", Key: fmt.Sprint("client ", n)}}
			for range rapid.IntRange(1, 3).Draw(r, "rows") {
				row := result.Row{Row: len(rows) + 2, Client: n, Status: result.Planned, ClientID: text.Draw(r, "id"), URL: text.Draw(r, "url"),
					FailedStep: text.Draw(r, "step"), Error: text.Draw(r, "error"), Advice: text.Draw(r, "advice"),
					ClaimIDs: rapid.SliceOfN(text, 1, 3).Draw(r, "claims")}
				rows, o.Rows = append(rows, row), append(o.Rows, row)
			}
			for i := range rapid.IntRange(0, 3).Draw(r, "steps") {
				key := fmt.Sprint("step ", i)
				done := rapid.Bool().Draw(r, "done")
				status := result.Planned
				if done {
					status = result.Unchanged
				} else {
					steps = append(steps, result.Step{Number: len(steps) + 1, Client: n, ClientKey: o.Client.Key, Step: key, State: string(result.Planned)})
				}
				o.Steps = append(o.Steps, StepOutcome{Step: &mapping.Step{Key: key}, Status: status})
			}
			outcomes = append(outcomes, o)
		}
		draft, err := NewDraft(dir)
		if err != nil {
			r.Fatal(err)
		}
		defer draft.Close()
		for _, o := range rapid.Permutation(outcomes).Draw(r, "order") {
			if err := draft.add(o, 0); err != nil {
				r.Fatal(err)
			}
		}
		if d := cmp.Diff(rows, all(r, draft.Rows())); d != "" {
			r.Fatalf("rows (-want +got):\n%s", d)
		}
		if d := cmp.Diff(steps, all(r, draft.Steps())); d != "" {
			r.Fatalf("steps (-want +got):\n%s", d)
		}
	})
}

func all[T any](t *rapid.T, list func(func(T, error) bool)) []T {
	var got []T
	for v, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	return slices.Clip(got)
}
