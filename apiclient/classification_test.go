package apiclient_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient"
)

const classification = "testdata/classification.md"

// column is a kind of request as the table has it.
type column struct {
	name string
	kind apiclient.Kind
	// key is where a sound answer has its id or url.
	key string
	// request makes it; pad makes its body larger.
	request func(r apiclient.Routes, pad string) apiclient.Request
}

var columns = []column{
	{"templates", apiclient.ReadTemplates, "id", nil},
	{"look-up", apiclient.FindClient, "contactId", nil},
	{"client", apiclient.CreateClient, "contactId", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateClient([]byte(`{"email":"jane@example.com","note":"`+pad+`"}`), true)
	}},
	{"claim", apiclient.CreateClaim, "claimId", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateClaim("contact-1", "A claim"+pad)
	}},
	{"activity", apiclient.CreateActivity, "id", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateActivity("contact-1", "claim-1", apiclient.Activity{TemplateID: "t", Status: "Submitted",
			WorkflowName: "w", WorkflowTemplateIdentifier: "i",
			Attributes: []apiclient.Attribute{{TemplateID: "a", Field: "stringValue", Value: []byte(`"` + pad + `"`)}}})
	}},
	{"Open activity", apiclient.CreateActivity, "id", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateActivity("contact-1", "", apiclient.Activity{TemplateID: "t", Status: "Open",
			WorkflowName: "w" + pad, WorkflowTemplateIdentifier: "i"})
	}},
	{"link", apiclient.CreateLink, "redirectUrl", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateLink("contact-1", []byte(`{"note":"`+pad+`"}`))
	}},
}

// attempt sends one request of the column and puts what became of it in the
// words of the table.
func (col column) attempt(ctx context.Context, c *apiclient.Client, pad string) string {
	switch col.kind {
	case apiclient.ReadTemplates:
		_, _, err := c.Templates(ctx)
		return inWords("read", err)
	case apiclient.FindClient:
		found, err := c.Find(ctx, apiclient.ByEmail, "jane@example.com")
		if found.Absent {
			return inWords("absent", err)
		}
		return inWords("found", err)
	}
	v := c.Create(ctx, col.request(c.Routes(), pad))
	words := []string{string(v.Effect)}
	if v.Effect == apiclient.Refused && v.Retry != apiclient.Never {
		words = append(words, "retry")
	}
	if v.RetryAfter > 0 {
		words = append(words, "wait "+v.RetryAfter.String())
	}
	if v.Stop {
		words = append(words, "stop")
	}
	return strings.Join(words, ", ")
}

func inWords(success string, err error) string {
	f, failed := errors.AsType[*apiclient.Failure](err)
	if !failed {
		return success
	}
	words := "fails"
	if f.NotSent {
		words += ", not sent"
	}
	if f.Stop {
		words += ", stop"
	}
	return words
}

// tableRow is one failure of the table.
type tableRow struct {
	class   int
	failure string
	arrived int64
	cells   map[string]string // by column
}

func readTable(t *testing.T) []tableRow {
	t.Helper()
	text, err := os.ReadFile(classification)
	if err != nil {
		t.Fatal(err)
	}
	var header []string
	var rows []tableRow
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|-") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if header == nil {
			header = cells
			continue
		}
		row := tableRow{failure: cells[1], cells: map[string]string{}}
		row.class, err = strconv.Atoi(cells[0])
		arrived, err2 := strconv.ParseInt(cells[2], 10, 64)
		if err := errors.Join(err, err2); err != nil || len(cells) != len(header) {
			t.Fatalf("%s: %v", line, err)
		}
		row.arrived = arrived
		for i, name := range header[3:] {
			row.cells[name] = cells[3+i]
		}
		rows = append(rows, row)
	}
	return rows
}

// Every cell of the table is played against a service of its own.
func TestClassification(t *testing.T) {
	t.Parallel()
	rows := readTable(t)
	missing := map[int]bool{32: true}
	for class := 1; class <= 29; class++ {
		missing[class] = true
	}
	faults := newFaults(t)
	unplayed := maps.Clone(faults)
	turns := make(chan struct{}, 32) // large bodies would fill the memory side by side
	var equal, total int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, row := range rows {
		delete(missing, row.class)
		delete(unplayed, row.failure)
		f, ok := faults.named(row.failure)
		if !ok {
			t.Errorf("class %d: no fault is called %q", row.class, row.failure)
			continue
		}
		for _, col := range columns {
			want := row.cells[col.name]
			if want == "–" {
				continue
			}
			total++
			wg.Go(func() {
				if !f.slow {
					turns <- struct{}{}
					defer func() { <-turns }()
				}
				got, arrived, sent := play(t, f, col)
				mu.Lock()
				defer mu.Unlock()
				if got == want && arrived == row.arrived && sent == int(row.arrived) {
					equal++
					return
				}
				t.Errorf("class %d, %s, %s: %q with %d arrived and %d counted; want %q with %d",
					row.class, row.failure, col.name, got, arrived, sent, want, row.arrived)
			})
		}
	}
	wg.Wait()
	t.Logf("%d of %d cells equal", equal, total)
	if len(missing) > 0 {
		t.Errorf("the table lacks the classes %v", slices.Sorted(maps.Keys(missing)))
	}
	if len(unplayed) > 0 {
		t.Errorf("the table lacks the faults %q", slices.Sorted(maps.Keys(unplayed)))
	}
}
