package ledger_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"claimsheet/importer/ledger"
)

const (
	stepsAtOnce = 16 // how many steps share a commit
	bodySize    = 200
)

// BenchmarkStep is what a step costs, its intent and its outcome, when sixteen
// workers share each commit: in processor time and in bytes on the disk. Beside it
// stands a bare INSERT and UPDATE of a row of the same size with the same driver,
// commits and syncs. The ratio of the two is what counts; run it with
// -benchtime 20000x.
func BenchmarkStep(b *testing.B) {
	body := bytes.Repeat([]byte("x"), bodySize)
	var ledgerTime, bareTime, ledgerSize, bareSize float64
	b.Run("ledger", func(b *testing.B) { ledgerTime, ledgerSize = costOfSteps(b, body) })
	b.Run("bare", func(b *testing.B) { bareTime, bareSize = costOfRows(b, body) })
	b.Run("ratio", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ledgerTime/bareTime, "×cpu")
		b.ReportMetric(ledgerSize/bareSize, "×bytes")
	})
}

// cost reports and returns the processor time in microseconds and the bytes of one
// of n steps, since start.
func cost(b *testing.B, start time.Duration, n int, path string) (micros, size float64) {
	micros = float64((processorTime(b) - start).Microseconds()) / float64(n)
	b.ReportMetric(micros, "cpu-µs/step")
	info, err := os.Stat(path)
	do(b, err)
	size = float64(info.Size()) / float64(n)
	b.ReportMetric(size, "bytes/step")
	return micros, size
}

func costOfSteps(b *testing.B, body []byte) (micros, size float64) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	l := open(b, path)
	digest := strings.Repeat("0123456789abcdef", 4)
	b.ResetTimer()
	start, n := processorTime(b), 0
	var workers sync.WaitGroup
	var steps atomic.Int64
	for range stepsAtOnce {
		workers.Go(func() {
			for i := steps.Add(1); i <= int64(b.N); i = steps.Add(1) {
				id := jane("loans", fmt.Sprintf("claim/loan/%d", i%6))
				id.Client = fmt.Sprintf("client-%d@example.com", i/6)
				run := "11111111-2222-4333-8444-555555555501"
				err := errors.Join(
					l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Run: run, Kind: ledger.KindClaim, Data: body, Digest: digest}),
					l.Append(ledger.Event{StepID: id, To: ledger.Done, At: noon, Run: run, Via: ledger.ViaAnswer, Status: 201, ID: uuid.NewString(), Answer: body}))
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	workers.Wait()
	n = b.N
	b.ReportMetric(float64(2*n)/float64(max(l.Commits(), 1)), "events/commit")
	elapsed := processorTime(b)
	do(b, l.Close())
	return cost(b, start+processorTime(b)-elapsed, n, path)
}

func costOfRows(b *testing.B, body []byte) (micros, size float64) {
	path := filepath.Join(b.TempDir(), "bare.db")
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(FULL)&_pragma=journal_mode(WAL)")
	do(b, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, client TEXT, step TEXT, request BLOB, digest BLOB, response BLOB, remote_id TEXT)")
	do(b, err)
	prepare := func(text string) *sql.Stmt {
		s, err := db.Prepare(text)
		do(b, err)
		return s
	}
	begin, commit := prepare("BEGIN IMMEDIATE"), prepare("COMMIT")
	insert, update := prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, NULL, NULL)"), prepare("UPDATE t SET response = ?, remote_id = ? WHERE id = ?")
	exec := func(s *sql.Stmt, args ...any) {
		_, err := s.Exec(args...)
		do(b, err)
	}
	b.ResetTimer()
	start, n := processorTime(b), 0
	for ; n < b.N; n += stepsAtOnce {
		exec(begin)
		for i := n; i < n+stepsAtOnce; i++ {
			exec(insert, i, fmt.Sprintf("client-%d@example.com", i/6), fmt.Sprintf("claim/loan/%d", i%6), body, body[:32])
		}
		exec(commit)
		exec(begin)
		for i := n; i < n+stepsAtOnce; i++ {
			exec(update, body, uuid.NewString(), i)
		}
		exec(commit)
	}
	elapsed := processorTime(b)
	_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	do(b, err)
	return cost(b, start+processorTime(b)-elapsed, n, path)
}

// processorTime is what this process has used until now.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	do(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkOpen opens a ledger of 5,000 clients with 6 done steps each that was
// closed. What a run asks before it begins is in it.
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
				ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim", Data: body, Digest: "d"},
				ledger.Event{StepID: id, To: ledger.Done, Via: ledger.ViaAnswer, At: noon, Status: 201, ID: fmt.Sprint(client, "-", step), Answer: body})
		}
		do(b, l.Append(events...))
	}
	do(b, l.Close())
	environment := jane("", "").Environment
	b.ResetTimer()
	for b.Loop() {
		l := open(b, path)
		_, err1 := l.MarkInterrupted("r", noon)
		_, err2 := l.KnownClients(b.Context(), environment, 1)
		_, err4 := l.Definitions(b.Context(), environment)
		_, err5 := l.Erasures(b.Context(), environment)
		_, err6 := l.CountUnsettled(b.Context(), environment, "m")
		do(b, errors.Join(err1, err2, err4, err5, err6, l.Close()))
	}
}

// grow adds clients to a ledger, each with six steps that are done, in few commits.
func grow(b *testing.B, l *ledger.Ledger, from, clients int) {
	b.Helper()
	body := bytes.Repeat([]byte("x"), bodySize)
	var events []ledger.Event
	for client := from; client < from+clients; client++ {
		for step := range 6 {
			id := ledger.StepID{ClientKey: benchClient(client), Mapping: "m", Step: fmt.Sprint("claim/c/", step)}
			events = append(events,
				ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim", Data: body, Digest: strings.Repeat("0123456789abcdef", 4)},
				ledger.Event{StepID: id, To: ledger.Done, Via: ledger.ViaAnswer, At: noon, Status: 201, ID: uuid.NewString(), Answer: body})
		}
		if len(events) > 5000 || client == from+clients-1 {
			do(b, l.Append(events...))
			events = events[:0]
		}
	}
}

func benchClient(i int) ledger.ClientKey {
	owner := jane("", "").ClientKey
	owner.Client = fmt.Sprintf("client-%d@example.com", i)
	return owner
}

// BenchmarkSteps is what planning a client asks of the ledger: one client at a time,
// and many at once, in a ledger of 500 clients and in one of 5,000, in turns. The
// ratio is that of the large ledger to the small one.
func BenchmarkSteps(b *testing.B) {
	const asked = 500
	small, large := fresh(b), fresh(b)
	grow(b, small, 0, asked)
	grow(b, large, 0, 10*asked)
	owners := make([]ledger.ClientKey, asked)
	one := func(l *ledger.Ledger) {
		for _, owner := range owners {
			if steps, err := l.Steps(b.Context(), owner, "m"); err != nil || len(steps) != 6 {
				b.Fatal(len(steps), err)
			}
		}
	}
	many := func(l *ledger.Ledger) {
		all, err := l.StepsOfClients(b.Context(), owners[0].Environment, "m", owners)
		if err != nil || len(all) != asked || len(all[asked-1]) != 6 {
			b.Fatal(len(all), err)
		}
	}
	for _, c := range []struct {
		name string
		read func(*ledger.Ledger)
	}{{"one", one}, {"many", many}} {
		b.Run(c.name, func(b *testing.B) {
			var spent [2]time.Duration
			round := 0
			for ; b.Loop(); round++ {
				for i, l := range []*ledger.Ledger{small, large} {
					for n := range owners { // spread over the large ledger, in its order
						owners[n] = benchClient(n * (1 + 9*i))
					}
					start := processorTime(b)
					c.read(l)
					spent[i] += processorTime(b) - start
				}
			}
			b.ReportMetric(float64(spent[0].Microseconds())/float64(asked*round), "cpu-µs/client")
			b.ReportMetric(float64(spent[1])/float64(spent[0]), "×large")
		})
	}
}

// BenchmarkSettle opens a ledger, reads what is uncertain, decides one step and closes
// it, as the command settle does: in turns for a ledger of 60 steps and one of 300,000.
func BenchmarkSettle(b *testing.B) {
	const small, large = 10, 50_000
	paths := [2]string{filepath.Join(b.TempDir(), "small.db"), filepath.Join(b.TempDir(), "large.db")}
	for i, clients := range []int{small, large} {
		l := open(b, paths[i])
		grow(b, l, 0, clients)
		do(b, l.Close())
	}
	var spent, opening, closing [2]time.Duration
	round := 0
	for ; b.Loop(); round++ {
		for i, path := range paths {
			l := open(b, path)
			id := ledger.StepID{ClientKey: benchClient(0), Mapping: "m", Step: fmt.Sprint("claim/new/", round)}
			do(b, l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim"}, ledger.Event{StepID: id, To: ledger.Uncertain, At: noon}))
			do(b, l.Close())
			start := time.Now()
			l = open(b, path)
			opening[i] += time.Since(start)
			for s, err := range l.Unsettled(b.Context(), id.Environment) {
				do(b, err)
				e := ledger.Event{StepID: s.StepID, To: ledger.Done, Via: ledger.ViaByHand, At: noon, ID: uuid.NewString()}
				_, _, err := l.StepWithID(b.Context(), e)
				do(b, errors.Join(err, l.Append(e)))
			}
			before := time.Now()
			do(b, l.Close())
			closing[i] += time.Since(before)
			spent[i] += time.Since(start)
		}
	}
	millis := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(round) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(millis(spent[0]), "small-ms")
	b.ReportMetric(millis(spent[1]), "large-ms")
	b.ReportMetric(millis(opening[1]), "large-open-ms")
	b.ReportMetric(millis(closing[1]), "large-close-ms")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "×large")
}
