package ledger_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// doneClient records a client with a claim and a link, and returns the steps in the
// order of a plan, as the ledger returns them.
func doneClient(t testing.TB, l *ledger.Ledger, key string, claims int) []ledger.Step {
	t.Helper()
	id := func(mapping, step string) ledger.StepID {
		s := jane(mapping, step)
		s.Client = key
		return s
	}
	do(t, l.Append(finished(id("", "client"), ledger.KindClient, "c-"+key, "")...))
	order := []string{"client"}
	for i := range claims {
		step := fmt.Sprint("claim/loan/", i)
		do(t, l.Append(finished(id("loans", step), ledger.KindClaim, fmt.Sprint("k-", key, "-", i), "")...))
		order = append(order, step)
	}
	do(t, l.Append(finished(id("loans", "link"), ledger.KindLink, "", "https://go/"+key)...))
	known, err := l.Steps(t.Context(), id("", "").ClientKey, "loans")
	do(t, err)
	var steps []ledger.Step
	for _, step := range append(order, "link") {
		steps = append(steps, known[step])
	}
	return steps
}

// unchangedRow is the row that a plan of doneClient gets.
func unchangedRow(key string, client, row int, claims ...int) result.Row {
	r := result.Row{Row: row, Client: client, Status: result.Unchanged, ClientID: "c-" + key, URL: "https://go/" + key}
	for _, i := range claims {
		r.ClaimIDs = append(r.ClaimIDs, fmt.Sprint("k-", key, "-", i))
	}
	return r
}

func add(t testing.TB, l *ledger.Ledger, u ledger.Unchanged) {
	t.Helper()
	ok, err := l.AddUnchanged("r1", u)
	do(t, err)
	if !ok {
		t.Fatalf("the rows of client %d cannot be made from the steps", u.Client)
	}
}

// TestUnchangedIsSmall: many clients are in few bytes, and in several parts.
func TestUnchangedIsSmall(t *testing.T) {
	const clients = 5000
	l, err := ledger.OpenScratch(t.TempDir())
	do(t, err)
	t.Cleanup(func() { do(t, l.Close()) })
	do(t, l.StartRun(run))
	steps := doneClient(t, l, "ann", 1)
	for i := range clients {
		add(t, l, ledger.Unchanged{Client: i + 1, Owner: steps[0].ClientKey, Steps: steps, Rows: []result.Row{unchangedRow("ann", i+1, i+2, 0)}})
	}
	do(t, l.Flush())
	rows := collect(t, l.Rows(t.Context(), "r1", ledger.Newest))
	same(t, "rows", len(rows), clients)
	same(t, "the last", rows[clients-1], unchangedRow("ann", clients, clients+1, 0))
	parts, size := l.SizeOfLists(t.Context())
	if parts < 2 || size > 30*clients {
		t.Errorf("%d parts have %d bytes for %d clients", parts, size, clients)
	}
}

// TestDamagedList: where the disk has changed a list while the ledger was open, the
// rows of that run cannot be read, and the message names it. All other rows can, and a
// client can still be erased: the damaged list goes, because the client may be in it.
func TestDamagedList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	ann, bob := doneClient(t, l, "ann", 1), doneClient(t, l, "bob", 1)
	for _, id := range []string{"r1", "r2", "r3"} {
		began := run
		began.ID, began.KeptInput = id, "inputs/"+id
		do(t, l.StartRun(began))
		steps, key := ann, "ann"
		if id == "r3" {
			steps, key = bob, "bob"
		}
		ok, err := l.AddUnchanged(id, ledger.Unchanged{Client: 1, Owner: steps[0].ClientKey, Steps: steps, Rows: []result.Row{unchangedRow(key, 1, 2, 0)}})
		do(t, err)
		same(t, "added", ok, true)
		began.Finished = noon
		do(t, l.FinishRun(began))
	}
	var cut bytes.Buffer // half an entry, with its sum
	w, err := flate.NewWriter(&cut, flate.DefaultCompression)
	do(t, err)
	_, err = w.Write([]byte{1, 1})
	do(t, errors.Join(err, w.Close()))
	for _, spoil := range []string{
		`UPDATE run_unchanged SET list = CAST(substr(list, 1, 4) || x'00' || substr(list, 6) AS BLOB) WHERE run = 'r2'`,
		`UPDATE run_unchanged SET list = zeroblob(9) WHERE run = 'r2'`, // with the sum of other bytes
		fmt.Sprintf(`UPDATE run_unchanged SET list = x'%x', sum = %d WHERE run = 'r2'`, cut.Bytes(), crc32.Checksum(cut.Bytes(), crc32.MakeTable(crc32.Castagnoli))),
	} {
		database(t, path, spoil)
		damage := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, ledger.ErrDamaged) || !strings.Contains(err.Error(), "run r2 is damaged") {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, err := range l.Rows(t.Context(), "r2", ledger.Newest) {
			damage("its rows", err)
		}
		for _, err := range l.RunSteps(t.Context(), "r2", ledger.Newest) {
			damage("its steps", err)
		}
		rows, err := l.RowsOfClient(t.Context(), ann[0].ClientKey)
		damage("the rows of a client in it", err)
		same(t, "the client's other rows", rows, []ledger.RunRow{{Run: "r1", Result: result.Row{Row: 2, Client: 1, Status: result.Unchanged}}})
		rows, err = l.RowsOfClient(t.Context(), bob[0].ClientKey)
		damage("the rows of another client", err)
		same(t, "another client's rows", len(rows), 1)
		same(t, "another run's rows", len(collect(t, l.Rows(t.Context(), "r3", ledger.Newest))), 1)
		damage("the check", ledger.Check(path, nil))
	}
	done, err := l.Forget(bob[0].ClientKey, noon, keepNothing)
	do(t, err)
	same(t, "removed lists", done.Damaged, []string{"r2"})
	var inputs []string
	for _, r := range done.Runs {
		inputs = append(inputs, r.KeptInput)
	}
	same(t, "inputs that may hold the client", inputs, []string{"inputs/r2", "inputs/r3"})
	do(t, ledger.Check(path, nil))
	rows, err := l.RowsOfClient(t.Context(), ann[0].ClientKey)
	do(t, err)
	same(t, "rows afterwards", len(rows), 1)
	do(t, l.Append(finished(jane("", "client"), ledger.KindClient, "x1", "")...)) // the writer goes on
}
