package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/importer/cli"
)

const journalMapping = `
name: night
api: v2
client:
  key: E-mail
  existing: create
  fields: {email: {column: E-mail, type: Email}, lastName: Name}
`

// TestLedgerLostUnderARun takes the ledger away while a request is in flight:
// the run sends nothing more, its id goes to the journal, and the next
// run takes it up and does the rest. Nothing is created twice.
func TestLedgerLostUnderARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledgerFile := filepath.Join(dir, ".claimsheet", "ledger.db")
	var contacts, links atomic.Int32
	lose := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/magic-link") {
			fmt.Fprintf(w, `{"redirectUrl":"https://claims.example.com/go/%d"}`, links.Add(1))
			return
		}
		if lose {
			if err := os.Rename(ledgerFile, ledgerFile+".away"); err != nil {
				t.Error(err)
			}
		}
		fmt.Fprintf(w, `{"contactId":"contact-%d"}`, contacts.Add(1))
	}))
	defer server.Close()
	write(t, filepath.Join(dir, "mapping.yaml"), journalMapping)
	write(t, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+server.URL+"'}}\n")
	sheet := filepath.Join(dir, "leads.xlsx")
	writeSheet(t, sheet, []any{"E-mail", "Name"}, [][]any{{"jane@example.com", "Doe"}, {"john@example.com", "Roe"}})
	run := func(want int, flags ...string) string {
		t.Helper()
		var out, diagnostics bytes.Buffer
		code := quickMain(context.Background(), append(append([]string{"run", "-m", filepath.Join(dir, "mapping.yaml")}, flags...), sheet),
			cli.IO{Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
		if code != want {
			t.Fatalf("exit code %d, want %d\n%s%s", code, want, &out, &diagnostics)
		}
		return diagnostics.String()
	}

	said := run(3)
	if !strings.Contains(said, `client created, id "contact-1"`) || strings.Contains(said, "jane") {
		t.Errorf("stderr is %q, want the id and no key", said)
	}
	if contacts.Load() != 1 || links.Load() != 0 {
		t.Errorf("%d contacts and %d links were asked for, want 1 and 0", contacts.Load(), links.Load())
	}
	lose = false
	if err := os.Rename(ledgerFile+".away", ledgerFile); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a dry run changes nothing
		if said := run(3, "--dry-run"); !strings.Contains(said, "1 outcomes in the journals") {
			t.Errorf("stderr is %q, want it to tell of the outcome to be taken up", said)
		}
	}
	if said := run(0); !strings.Contains(said, "had to keep in its journal: 1") {
		t.Errorf("stderr is %q, want it to tell of the outcome taken up", said)
	}
	run(0, "--dry-run")
	run(0)
	if contacts.Load() != 2 || links.Load() != 2 {
		t.Errorf("%d contacts and %d links were asked for in the end, want 2 and 2", contacts.Load(), links.Load())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".claimsheet", "journal-*.jsonl")); len(left) > 0 {
		t.Errorf("journals %v are left", left)
	}
}

// TestAnotherIDIsShown: a journal says that the service has created a client with another id than
// the ledger has. The command that records it says so, the client's row is uncertain, with both
// ids, and a decision settles it.
func TestAnotherIDIsShown(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	dir := t.TempDir()
	state := filepath.Join(dir, ".claimsheet")
	lose := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/magic-link") {
			fmt.Fprint(w, `{"redirectUrl":"https://claims.example.com/go/1"}`)
			return
		}
		if lose {
			if err := os.Rename(filepath.Join(state, "ledger.db"), filepath.Join(state, "ledger.db.away")); err != nil {
				t.Error(err)
			}
		}
		fmt.Fprint(w, `{"contactId":"contact-1"}`)
	}))
	defer server.Close()
	write(t, filepath.Join(dir, "mapping.yaml"), journalMapping)
	write(t, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+server.URL+"'}}\n")
	sheet := filepath.Join(dir, "leads.xlsx")
	writeSheet(t, sheet, []any{"E-mail", "Name"}, [][]any{{"jane@example.com", "Doe"}})
	do := func(want int, command string, words ...string) (out, said string) {
		t.Helper()
		var printed, diagnostics bytes.Buffer
		code := quickMain(t.Context(), append([]string{command, "-m", filepath.Join(dir, "mapping.yaml")}, words...),
			cli.IO{Out: &printed, Err: &diagnostics, Env: func(string) string { return "" }})
		if code != want {
			t.Fatalf("exit code %d, want %d\n%s%s", code, want, &printed, &diagnostics)
		}
		return printed.String(), diagnostics.String()
	}
	do(3, "run", sheet)
	lose = false
	kept, _ := filepath.Glob(filepath.Join(state, "journal-*.jsonl"))
	if len(kept) != 1 {
		t.Fatalf("journals %v", kept)
	}
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(filepath.Join(state, "ledger.db.away"), filepath.Join(state, "ledger.db"))
	move(kept[0], kept[0]+".away")
	do(0, "settle", "--created", "contact-9", "jane@example.com:client")
	move(kept[0]+".away", kept[0])
	do(3, "run", "--dry-run", sheet)
	out, said := do(4, "run", sheet)
	if !strings.Contains(said, "journal-conflict") || strings.Contains(out+said, "jane") {
		t.Errorf("the run says %s%s, want the conflict and no key", out, said)
	}
	listed, _ := do(4, "settle")
	shown, _ := do(0, "history", "jane@example.com")
	for _, out := range []string{listed, shown} {
		if !strings.Contains(out, "contact-1") || !strings.Contains(out, "contact-9") {
			t.Errorf("it shows %s, want both ids", out)
		}
	}
	do(0, "settle", "--created", "contact-9", "jane@example.com:client")
	do(0, "run", sheet)
	if left, _ := filepath.Glob(filepath.Join(state, "journal-*")); len(left) > 0 {
		t.Errorf("journals %v are left", left)
	}
}
