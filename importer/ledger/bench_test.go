package ledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	_ "modernc.org/sqlite"

	"claimsheet/importer/ledger"
)

// BenchmarkAppend is a run of 5,000 clients with 6 steps each, over and over:
// an intent and an outcome per step, from as many callers as a run has workers.
// Beside it stands what the same disk does with one bare insert per commit.
func BenchmarkAppend(b *testing.B) {
	data := []byte(`{"templateId":"7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11","status":"Submitted","attributes":[{"templateId":"5f0c","stringValue":"Lloyds"}]}`)
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l := fresh(b)
			var steps atomic.Int64
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			body := func(next func() bool) {
				for next() {
					n := steps.Add(1)
					id := jane("m", fmt.Sprint("claim/c/", n%6))
					id.Client = fmt.Sprintf("client-%d@example.com", n/6)
					do(b, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim", Data: data, Digest: "d"}))
					if !next() {
						return
					}
					do(b, l.Append(ledger.Event{StepID: id, To: ledger.Done, Via: ledger.ViaAnswer, At: noon, Status: 201, ID: "c", Answer: data}))
				}
			}
			if callers == 1 {
				body(b.Loop)
			} else {
				b.RunParallel(func(p *testing.PB) { body(p.Next) })
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(b.N)/float64(l.Commits()), "events/commit")
		})
	}
	b.Run("bare-insert-per-commit", func(b *testing.B) {
		db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "bare.db")+"?_pragma=synchronous(FULL)&_pragma=journal_mode(WAL)")
		do(b, err)
		defer db.Close()
		_, err = db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)")
		do(b, err)
		insert, err := db.Prepare("INSERT INTO t (data) VALUES (?)")
		do(b, err)
		for b.Loop() {
			_, err := insert.Exec(data)
			do(b, err)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	})
}

// BenchmarkOpen opens a ledger of 5,000 clients with 6 done steps each, all of
// which are checked.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	l := open(b, path)
	body := bytes.Repeat([]byte("x"), 500)
	for client := range 5000 {
		var events []ledger.Event
		for step := range 6 {
			id := jane("m", fmt.Sprint("claim/c/", step))
			id.Client = fmt.Sprint(client)
			events = append(events,
				ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim", Data: body, Digest: "d"},
				ledger.Event{StepID: id, To: ledger.Done, Via: ledger.ViaAnswer, At: noon, Status: 201, ID: "c", Answer: body})
		}
		do(b, l.Append(events...))
	}
	do(b, l.Close())
	for b.Loop() {
		do(b, open(b, path).Close())
	}
}

// BenchmarkSteps is what planning a client asks of the ledger.
func BenchmarkSteps(b *testing.B) {
	l := fresh(b)
	for i := range 2000 {
		id := jane("m", fmt.Sprint("claim/c/", i%6))
		id.Client = fmt.Sprint(i / 6)
		do(b, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim", Digest: "d"}))
	}
	owner := jane("", "").ClientKey
	for n := 0; b.Loop(); n++ {
		owner.Client = fmt.Sprint(n % 300)
		if steps, err := l.Steps(context.Background(), owner, "m"); err != nil || len(steps) != 6 {
			b.Fatal(steps, err)
		}
	}
}
