package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// A line “# ignored: …” is written and removed as a person would, and keeps its column out
// of the warning of unused columns.
func TestIgnoredColumns(t *testing.T) {
	t.Parallel()
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"No", "Name", " Agent\u00a0 name", "Twice", "Twice", "Town"}}
	const text = "name: x\napi: v2\nclient: {key: No, existing: create, fields: {n: Name}}"
	names := []string{mapping.IgnoredName(sheet, 2), mapping.IgnoredName(sheet, 4)}
	if strings.Join(names, ", ") != "Agent name, column E" {
		t.Errorf("the names are %q", names)
	}
	for _, eol := range []string{"\n", "\r\n"} {
		file := []byte(strings.ReplaceAll(text+"\n", "\n", eol))
		one := mapping.Ignore(file, names[0], true)
		two := mapping.Ignore(append(one, []byte("# end")...), names[1], true)
		want := strings.ReplaceAll(text+"\n# ignored: Agent name\n# end\n# ignored: column E\n", "\n", eol)
		if string(two) != want {
			t.Errorf("the file is %q, want %q", two, want)
		}
		m, found := mapping.Parse("m.yaml", two)
		if len(found) > 0 {
			t.Fatal(found)
		}
		b, found := mapping.Bind(m, &sheet, nil, "2026-01-01")
		if len(found) > 0 {
			t.Fatal(found)
		}
		warnings := b.UnusedColumns()
		if len(warnings) != 1 || !strings.HasSuffix(warnings[0].Message, "columns “Twice” (D), “Town” (F)") {
			t.Errorf("the warnings are %v", warnings)
		}
		if back := mapping.Ignore(one, " AGENT name", false); string(back) != string(file) {
			t.Errorf("without it again the file is %q", back)
		}
	}
	if got := string(mapping.Ignore([]byte("name: x"), "A", true)); got != "name: x\n# ignored: A\n" {
		t.Errorf("behind a last line without an end it is %q", got)
	}
}
