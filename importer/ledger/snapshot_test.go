package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// whileWriting calls read again and again while write writes a ledger, and fails when
// a read says that the ledger is damaged.
func whileWriting(t *testing.T, write func(i int), read func() error) {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				write(i)
			}
		}
	})
	n, bad := 0, 0
	for end := time.Now().Add(time.Second); n < 20 || time.Now().Before(end); n++ {
		err := read()
		switch {
		case errors.Is(err, ledger.ErrDamaged):
			bad++
		case err != nil:
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	if bad > 0 {
		t.Errorf("%d of %d reads of a sound ledger say that it is damaged", bad, n)
	}
}

// TestCheckWhileWritten: a ledger is checked as it was at one moment, while a run adds
// steps to it and changes them.
func TestCheckWhileWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	add := func(i int) {
		do(t, l.Append(finished(jane("m", fmt.Sprint("claim/c/", i)), "claim", fmt.Sprint(i), "")...))
	}
	for i := range 300 {
		add(-1 - i)
	}
	again := jane("m", "claim/again")
	do(t, l.Append(ledger.Event{StepID: again, To: ledger.Intent, At: noon, Kind: "claim"}))
	whileWriting(t, func(i int) {
		add(i)
		do(t, l.Append(ledger.Event{StepID: again, To: ledger.NotSent, At: noon}))
		do(t, l.Append(ledger.Event{StepID: again, To: ledger.Intent, At: noon}))
	}, func() error { return ledger.Check(path, nil) })
}

// TestStepWhileWritten: what happened to a step is read together with the step.
func TestStepWhileWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	id := jane("m", "claim/c/1")
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim"}))
	do(t, l.StartRun(ledger.Run{ID: "r1", Environment: id.Environment, Started: noon}))
	do(t, l.AddRunSteps("r1", 1, ledger.RunStep{StepID: id, Kind: "claim"}))
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.NotSent, At: noon, Status: 503, Answer: []byte("{}")}))
	at, err := l.LastEvent(t.Context())
	do(t, err)
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon}))
	r, err := ledger.OpenReadOnly(path)
	do(t, err)
	defer r.Close()
	whileWriting(t, func(int) {
		do(t, l.Append(ledger.Event{StepID: id, To: ledger.NotSent, At: noon, Answer: []byte("{}")}))
		do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon}))
	}, func() error {
		_, err1 := r.Events(t.Context(), id)
		_, err2 := r.AnswerStatus(t.Context(), id)
		var err3 error
		for _, err := range r.RunSteps(t.Context(), "r1", at) {
			err3 = errors.Join(err3, err)
		}
		return errors.Join(err1, err2, err3)
	})
}
