package ledger_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
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

// BenchmarkStep is what a step costs in processor time, its intent and its outcome,
// when sixteen workers share each commit. Beside it stands a bare INSERT and UPDATE of
// a row of the same size with the same driver, commits and syncs. The ratio of the two
// is what counts; run it with -benchtime 20000x. TestBytesOfAStep has the bytes.
func BenchmarkStep(b *testing.B) {
	body := bytes.Repeat([]byte("x"), bodySize)
	var ledgerTime, bareTime float64
	b.Run("ledger", func(b *testing.B) { ledgerTime = costOfSteps(b, body) })
	b.Run("bare", func(b *testing.B) { bareTime = costOfRows(b, body) })
	b.Run("ratio", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ledgerTime/bareTime, "×cpu")
	})
}

// cost reports and returns the processor time in microseconds of one of n steps.
func cost(b *testing.B, spent time.Duration, n int) (micros float64) {
	micros = float64(spent.Microseconds()) / float64(n)
	b.ReportMetric(micros, "cpu-µs/step")
	return micros
}

func costOfSteps(b *testing.B, body []byte) (micros float64) {
	l := fresh(b)
	digest := strings.Repeat("0123456789abcdef", 4)
	b.ResetTimer()
	start := processorTime(b)
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
	b.ReportMetric(float64(2*b.N)/float64(max(l.Commits(), 1)), "events/commit")
	return cost(b, processorTime(b)-start, b.N)
}

func costOfRows(b *testing.B, body []byte) (micros float64) {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "bare.db")+"?_pragma=synchronous(FULL)&_pragma=journal_mode(WAL)")
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
	return cost(b, processorTime(b)-start, n)
}

// processorTime is what this process has used until now.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	do(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
