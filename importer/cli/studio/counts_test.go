package studio_test

import (
	"strings"
	"testing"
)

// Rows that the mapping skips are neither usable nor in trouble, in the sums as in the rows
// and columns.
func TestSkippedRows(t *testing.T) {
	t.Parallel()
	b := begin(t, strings.Replace(mappingText, "client:\n", "sheet: {when: 'col(\"Notes\") != \"y\"'}\nclient:\n", 1), sheetText, nil)
	st := b.judged()
	for key, want := range map[string]any{"rows": 5, "skipped": 1, "usable": 2, "errors": 2} {
		expect(t, key, st.at("judgement", key), want)
	}
	for show, want := range map[string]any{"all": 5, "usable": 2, "errors": 2} {
		expect(t, "the rows "+show, b.get("/api/rows?show=" + show)["total"], want)
	}
	email := st.one("columns", "letter", "B")
	for key, want := range map[string]any{"usable": 4, "errors": 0, "empty": 0} {
		expect(t, "E-mail: "+key, email[key], want)
	}
	notes := st.one("columns", "letter", "F")
	for key, want := range map[string]any{"usable": 2, "empty": 2} {
		expect(t, "Notes: "+key, notes[key], want)
	}
}

// A field may have any name, also one that means something else elsewhere; a header may be
// a number.
func TestNamesOfFields(t *testing.T) {
	t.Parallel()
	const text = "name: x\napi: v2\nclient:\n  key: 2024\n  existing: create\n  fields:\n    name: Surname\n    status: {column: 2024}\n    id: Surname\n    long: {value: 12345678901234567890}\n    price: {value: 1.50}\n"
	b := begin(t, text, "2024,Surname\n1,Archer\n", nil)
	st := b.judged()
	for path, want := range map[string]any{"/client/key": []string{"A"}, "/client/fields/name": []string{"B"}, "/client/fields/status": []string{"A"}, "/client/fields/id": []string{"B"}} {
		expect(t, path, st.one("targets", "path", path)["columns"], want)
	}
	expect(t, "a long number", st.one("targets", "path", "/client/fields/long").at("rule", "value"), "12345678901234567890")
	expect(t, "a number with a zero", st.one("targets", "path", "/client/fields/price").at("rule", "value"), "1.50")
	r := b.post("/api/preview", 200, "path", "/client/fields/name", "value", "Surname")
	expect(t, "the result", r.at("rows", 0, "result"), "Archer")
}
