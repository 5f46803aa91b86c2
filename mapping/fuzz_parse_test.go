package mapping_test

import (
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// FuzzParse: whatever the file holds, reading, binding and planning by it does
// not panic, and every problem stands in a line that the file has.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/lang/*/*.yaml", "../samples/*/mapping.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			f.Fatalf("no seeds: %v", err)
		}
		for _, file := range found {
			f.Add(mustRead(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := mapping.Parse("m.yaml", data)
		within(t, data, problems)
		_, more := mapping.Bind(m, nil, nil, runDate)
		within(t, data, more)
		sheet, records := leads("No | E-mail | A", "1 | a@b.example | x", "1 | | y")
		if b, more := mapping.Bind(m, &sheet, nil, runDate); len(problems)+len(more) == 0 {
			planAll(b, records)
		}
	})
}

// within fails when a problem stands outside the file. YAML ends a line at
// more characters than an editor may.
func within(t *testing.T, data []byte, problems problem.List) {
	t.Helper()
	lines := 1 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r") +
		strings.Count(string(data), "\u0085") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029")
	for _, p := range problems {
		if p.Where.Line < 1 || p.Where.Line > lines || p.Where.Column < 1 || p.Code == "" || p.Message == "" {
			t.Fatalf("the file has %d lines: %+v", lines, p)
		}
	}
}
