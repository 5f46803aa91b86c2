package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestTakenAtTheSameMoment: two workers get the same id at the same moment. One
// has it, the other is uncertain.
func TestTakenAtTheSameMoment(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, workers := range []string{"2", "8"} {
		for _, rows := range [][][]any{leads(3), {lead(1, "A-1"), lead(2, "A-2"), lead(2, "A-3")}} {
			t.Run(fmt.Sprint(workers, ", ", rows[2][0]), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, "name: c\napi: v2\n"+clientPart+"claims: [{id: loan, key: Agreement no, name: \"{Agreement no}\"}]\n", rows)
				var mu sync.Mutex
				both, arrived := make(chan struct{}), 0
				together := rows[2][0] == "c3@example.com" // those of one client come one after the other
				s.service.Play(func(c apitest.Call) apitest.Fault {
					if c.Kind != "claim" || strings.Contains(c.Step, "A-1") {
						return apitest.Fault{}
					}
					mu.Lock()
					defer mu.Unlock()
					if arrived++; arrived == 1 && !together || arrived == 2 && together {
						close(both)
					}
					f := apitest.CreateThen(apitest.JSON(201, `{"claimId":"b0000000-0000-4000-8000-999999999999"}`))
					f.Until = both
					return f
				})
				s.mustRun(4, "--concurrency", workers)
				status := column(s.results(), "Import status")
				slices.Sort(status)
				if diff := cmp.Diff([]string{"done", "done", "uncertain"}, status); diff != "" && together {
					t.Errorf("statuses (-want +got):\n%s", diff)
				}
				uncertain, done := 0, 0
				for _, line := range s.steps() {
					if strings.HasPrefix(line["Step"], "claim/") && line["Step"] != "claim/loan/A-1" {
						switch line["State"] {
						case "uncertain":
							uncertain++
						case "done":
							done++
						}
					}
				}
				if uncertain != 1 || done != 1 {
					t.Errorf("%d claims are uncertain and %d done, want one each", uncertain, done)
				}
			})
		}
	}
}
