package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// ours returns what a row shows of the things that were created for it.
func ours(row map[string]string) [3]string {
	return [3]string{row["contactId"], row["claimIds"], row["redirectUrl"]}
}

// TestRerunConflictStands: a row whose key was edited is refused each time its workbook
// is given, and keeps what it showed, until somebody decides.
func TestRerunConflictStands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		row  int // below the header of the sheet Results
		// steps are edits with a rerun behind each.
		steps []func(t *testing.T, f *excelize.File)
		back  func(t *testing.T, f *excelize.File)
		clear []string // the columns to clear for a new client or claim
		made  int      // how much is made then
	}{
		{"the client key", 2, []func(t *testing.T, f *excelize.File){
			func(t *testing.T, f *excelize.File) { set(t, f, "E-mail", 2, "c9@example.com") },
		}, func(t *testing.T, f *excelize.File) { set(t, f, "E-mail", 2, "c1@example.com") },
			[]string{"contactId", "claimIds"}, 5},
		{"the client key, to another client's", 2, []func(t *testing.T, f *excelize.File){
			func(t *testing.T, f *excelize.File) {
				set(t, f, "E-mail", 2, "c2@example.com")
				set(t, f, "Name", 2, "Name 2")
			},
		}, func(t *testing.T, f *excelize.File) {
			set(t, f, "E-mail", 2, "c1@example.com")
			set(t, f, "Name", 2, "Name 1")
		}, nil, 0},
		{"the client key, emptied at first", 2, []func(t *testing.T, f *excelize.File){
			func(t *testing.T, f *excelize.File) { set(t, f, "E-mail", 2, nil) },
			func(t *testing.T, f *excelize.File) { set(t, f, "E-mail", 2, "c9@example.com") },
		}, func(t *testing.T, f *excelize.File) { set(t, f, "E-mail", 2, "c1@example.com") },
			[]string{"contactId", "claimIds"}, 5},
		{"the client key, ids erased", 2, []func(t *testing.T, f *excelize.File){
			func(t *testing.T, f *excelize.File) {
				set(t, f, "E-mail", 2, "c9@example.com")
				set(t, f, "contactId", 2, nil)
				set(t, f, "claimIds", 2, nil)
			},
		}, nil, []string{"Import status", "Failed step"}, 5},
		{"the claim key", 2, []func(t *testing.T, f *excelize.File){
			func(t *testing.T, f *excelize.File) { set(t, f, "Agreement no", 2, 999) },
		}, func(t *testing.T, f *excelize.File) { set(t, f, "Agreement no", 2, 901) },
			[]string{"claimIds"}, 2},
		{"the claim key, emptied at first", 2, []func(t *testing.T, f *excelize.File){
			func(t *testing.T, f *excelize.File) { set(t, f, "Agreement no", 2, nil) },
			func(t *testing.T, f *excelize.File) { set(t, f, "Agreement no", 2, 999) },
		}, func(t *testing.T, f *excelize.File) { set(t, f, "Agreement no", 2, "00901") },
			[]string{"claimIds"}, 2},
	} {
		if !*long && test.name != "the claim key, emptied at first" {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRerunScene(t)
			s.edit(func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
			s.rerun() // client 3
			sent, before := s.sent(), ours(shown(t, s.results())["c1@example.com"])
			if test.back == nil {
				before = [3]string{"", "", before[2]}
			}
			for _, step := range test.steps {
				s.edit(func(f *excelize.File) { step(t, f) })
				s.rerun()
			}
			for range 2 {
				p := s.rerun()
				if p.summary.Rows.Invalid == 0 || !strings.Contains(p.err, "[id-conflict]") || s.sent() != sent {
					t.Fatalf("rows %+v, %d sent\n%s", p.summary.Rows, s.sent()-sent, p.err)
				}
				if diff := cmp.Diff(before, ours(rowAt(t, s.results(), test.row))); diff != "" {
					t.Fatalf("what the row shows (-want +got):\n%s", diff)
				}
			}
			s.rerun("--limit", "2") // leaves rows out
			s.rerun("--only", "c3@example.com")
			if test.back != nil {
				edited := copied(t, s.results())
				s.edit(func(f *excelize.File) { test.back(t, f) })
				if p := s.rerun(); p.summary.Rows.Unchanged != 3 || s.sent() != sent {
					t.Fatalf("put back: rows %+v, %d sent\n%s", p.summary.Rows, s.sent()-sent, p.err)
				}
				write(t, s.results(), edited)
			}
			if test.clear == nil {
				return
			}
			s.edit(func(f *excelize.File) {
				for _, header := range test.clear {
					set(t, f, header, test.row, nil)
				}
			})
			s.rerun()
			if n := s.sent() - sent; n != test.made {
				t.Errorf("the cells cleared: %d sent, want %d", n, test.made)
			}
		})
	}
}

// TestRerunConflictWithoutLedger: a row that was given another client's key does
// not give that client its url.
func TestRerunConflictWithoutLedger(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	s.edit(func(f *excelize.File) {
		must(t, f.DuplicateRowTo("Results", 2, 6)) // the last row is read last
		must(t, f.RemoveRow("Results", 2))
		set(t, f, "E-mail", 5, "c2@example.com")
		set(t, f, "Name", 5, "Name 2")
	})
	s.rerun()
	s.loseLedger()
	sent := s.sent()
	p := s.rerunWithout("--yes")
	if p.summary.Rows.Invalid == 0 || s.sent() != sent {
		t.Fatalf("rows %+v, %d sent\n%s", p.summary.Rows, s.sent()-sent, p.err)
	}
	if url := rowAt(t, s.results(), 2)["redirectUrl"]; url != s.url("c2@example.com") {
		t.Errorf("the other client's url is %q", url)
	}
}

// rowAt is a row of the sheet Results by header; the header's row is 1.
func rowAt(t *testing.T, path string, number int) record {
	t.Helper()
	return readSheet(t, path, "Results")[number-2]
}

func copied(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}
