package sandbox_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"

	"github.com/google/go-cmp/cmp"
)

// populate creates something of each kind and returns the v2 contact's id.
func populate(t testing.TB, h http.Handler) string {
	t.Helper()
	client := post(t, h, v1Clients+"?leadRedirect=true", `{"email":"a@example.com", "name":{"first":"<A>"}}`)["clientId"]
	post(t, h, v1Clients+"/"+client+"/activities", `{"activityTemplateId":"`+signature+`","status":"Open"}`)
	contact := newContact(t, h)
	claim := newClaim(t, h, contact, "Loan\u2028 & more")
	post(t, h, v2+"/activities?contactId="+contact, completed(details, surname, "Submitted"))
	newLink(t, h, contact)
	post(t, h, v2+"/activities?claimId="+claim, completed(agreement, lender, "Accepted"))
	return contact
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "state")
	open(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "service.jsonl"): 0o600} {
		info := must(os.Stat(path))(t)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

// A kill may cut the last line at any byte. The rest of it was in no answer: it is
// ignored, and the next record replaces it. Loading never changes the file: another process
// may be in the middle of a write.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "service.jsonl")
	s := open(t, dir)
	contact := newContact(t, s)
	whole := must(os.ReadFile(file))(t)
	before := s.Snapshot()
	newClaim(t, s, contact, "the torn one")
	s.Close()
	more := must(os.ReadFile(file))(t)
	if !bytes.HasPrefix(more, whole) || bytes.Count(more[len(whole):], []byte("\n")) != 1 {
		t.Fatal("one creation did not add one line to the file")
	}
	for cut := len(whole); cut < len(more); cut++ {
		noError(t, os.WriteFile(file, more[:cut], 0o600))
		s := must(sandbox.New(options(t, dir)))(t)
		if diff := cmp.Diff(before, s.Snapshot()); diff != "" {
			t.Fatalf("cut at byte %d (-want +got):\n%s", cut, diff)
		}
		send(s, "POST", v2+"/contacts", "application/json", `{}`)
		if got := must(os.ReadFile(file))(t); !bytes.Equal(got, more[:cut]) {
			t.Fatalf("cut at byte %d: the file was changed without a creation", cut)
		}
		newClaim(t, s, contact, "x")
		newClaim(t, s, contact, "y")
		after := s.Snapshot()
		s.Close()
		again := must(sandbox.New(options(t, dir)))(t)
		if diff := cmp.Diff(after, again.Snapshot()); diff != "" {
			t.Fatalf("cut at byte %d, then written to (-want +got):\n%s", cut, diff)
		}
		again.Close()
	}
}

func TestDamageIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "service.jsonl")
	populate(t, open(t, dir))
	whole := must(os.ReadFile(file))(t)
	lines := strings.SplitAfter(string(whole), "\n")
	for name, damaged := range map[string]string{
		"line is no JSON":       lines[0] + "jane@example.com\n" + lines[1],
		"line is empty":         lines[0] + "\n" + lines[1],
		"line with a tail":      strings.Replace(string(whole), "\n", "{}\n", 1),
		"nothing in it":         lines[0] + "{}\n",
		"owner is missing":      lines[1],
		"client twice":          lines[0] + lines[0],
		"client without data":   `{"client":{"id":"1","version":"v2","data":7,"created":"2026-03-01T12:00:00Z"}}` + "\n",
		"last line, though bad": string(whole) + "jane@example.com\n",
	} {
		noError(t, os.WriteFile(file, []byte(damaged), 0o600))
		_, err := sandbox.New(options(t, dir))
		if err == nil {
			t.Errorf("%s: New took the file", name)
			continue
		}
		if !strings.Contains(err.Error(), file+":") || strings.Contains(err.Error(), "jane@") {
			t.Errorf("%s: %v: want the file and line, and nothing of what is in it", name, err)
		}
	}
}

// What cannot be written to the file is not created.
func TestNothingIsCreatedUnwritten(t *testing.T) {
	dir := t.TempDir()
	refused := func(t *testing.T, s *sandbox.Service) {
		t.Helper()
		before := s.Snapshot()
		w := send(s, "POST", v2+"/contacts", "application/json", `{"email":"x@example.com"}`)
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"store"`) {
			t.Errorf("create: %d %s, want 500 with the code store", w.Code, w.Body)
		}
		same(t, "created all the same", before, s.Snapshot())
	}
	t.Run("two services in a folder", func(t *testing.T) {
		one, other := open(t, dir), open(t, dir)
		newContact(t, one)
		refused(t, other)
		newContact(t, one)
	})
	t.Run("closed", func(t *testing.T) {
		s := open(t, dir)
		noError(t, s.Close())
		if err := s.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		refused(t, s)
	})
	t.Run("a folder that is a file", func(t *testing.T) {
		if _, err := sandbox.New(options(t, filepath.Join(dir, "service.jsonl"))); err == nil {
			t.Error("New took a file for a folder")
		}
	})
}
