package studio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/testform"
)

var must = testform.NoError

// A row that panics is said, and the session goes on.
func TestRowThatPanics(t *testing.T) {
	t.Parallel()
	sheet := filepath.Join(t.TempDir(), "leads.csv")
	must(t, os.WriteFile(sheet, []byte("No,E-mail\n1,ann@example.com\n2,jane.canary\n"), 0o600))
	text := "name: x\napi: v2\nclient: {key: No, existing: create, fields: {email: {column: E-mail, type: Email}}}\n"
	s, err := New(t.Context(), Options{Mapping: filepath.Join(filepath.Dir(sheet), "m.yaml"), Proposed: []byte(text), Sheets: []string{sheet}})
	must(t, err)
	defer s.Close()
	s.work.Wait()
	change := func(text string) judgementJSON {
		s.mu.Lock()
		s.session.change("x", []byte(text))
		s.refresh()
		s.mu.Unlock()
		s.work.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.judgement(s.judgedBy())
	}
	all := s.now.book.records
	s.now.book.records = all[:1] // the wrong address has no place to be marked
	said := change(text + "# odd\n").Error
	if !strings.HasPrefix(said, "The rows could not be judged: a fault of Claimsheet's own: ") || strings.Contains(said, "canary") {
		t.Errorf("it says %q", said)
	}
	s.now.book.records = all
	if j := change(text + "# as before\n"); !j.Complete || j.Usable != 1 || j.Errors != 1 || s.crash.Load() != nil || s.ctx.Err() != nil {
		t.Errorf("afterwards the judgement is %+v; the session ends by %v, %v", j, s.crash.Load(), s.ctx.Err())
	}
}
