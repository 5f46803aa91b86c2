package studio_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// timesText has a column of times without a zone, which a preview of dates reads with one.
const timesText = `name: spring
api: v2
client:
  key: Lead no
  existing: create
  fields:
    lastName: Surname
    seen: {column: Seen, type: DateTime, format: dd/mm/yyyy hh:mm}   # DECIDE: are these times?
`

const timesSheet = "Lead no,Surname,Seen\n1,Archer,01/02/2024 10:00\n2,Brown,31/02/2024 11:00\n"

// Trying rules changes nothing of what is shown and judged, also when several are tried at
// once.
func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, sheet string }{"times without a zone": {timesText, timesSheet}, "dates": {mappingText, sheetText}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, c.text, c.sheet, nil)
			st := b.judged()
			column := b.get("/api/column?letter=C")
			client := b.get("/api/client?row=2")
			tries := []map[string]any{
				{"path": "/client/fields/seen", "value": map[string]any{"column": "Seen", "type": "DateTime", "format": "dd/mm/yyyy hh:mm"}},
				{"path": "/client/fields/seen", "value": map[string]any{"column": "Seen", "type": "DateTime"}},
				{"path": "/activities/0/attributes/Date of birth", "value": map[string]any{"column": "DOB", "format": "mm/dd/yyyy"}},
				{"path": "/activities/template=More/attributes/Note", "value": map[string]any{"column": "DOB", "type": "DateTime"}},
				{"path": "/client/key", "value": "Surname"},
				{"path": "/client/fields/lastName", "value": map[string]any{"text": "{Surname} {Lead no}"}},
				{"path": "/sheet/when", "value": `has("Surname")`},
				{"path": "/client/fields/lastName", "value": map[string]any{"column": "Nothing"}},
			}
			var work sync.WaitGroup
			answers := make([][3]string, len(tries))
			for i, try := range tries {
				body, _ := json.Marshal(try)
				for again := range answers[i] {
					work.Go(func() { _, answers[i][again] = b.ask("POST", "/api/preview", string(body)) })
				}
			}
			work.Wait()
			for i, of := range answers {
				if of[0] != of[1] || of[0] != of[2] {
					t.Errorf("%v gets three answers:\n%s", tries[i], strings.Join(of[:], ""))
				}
			}
			after := b.get("/api/state")
			expect(t, "the state", without(map[string]any(after), "progress", "suggestions"), without(map[string]any(st), "progress", "suggestions"))
			expect(t, "the column", b.get("/api/column?letter=C"), column)
			expect(t, "the client", b.get("/api/client?row=2"), client)
		})
	}
}

func without(object any, keys ...string) map[string]any {
	copied := map[string]any{}
	for key, value := range object.(map[string]any) {
		copied[key] = value
	}
	for _, key := range keys {
		delete(copied, key)
	}
	return copied
}
