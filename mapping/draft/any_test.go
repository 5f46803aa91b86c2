package draft

import (
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyHeader draws what people and programs put above a column, and what they do
// not.
func anyHeader() *rapid.Generator[string] {
	odd := []rune("aZ09 :-#{}[]\"'\\|>&*!%@`,?=~.\t\n\r\u0001\u007f\u0085\u009b\u00a0\u00ad\u200b\u2028\u2029\u202e\ufeff\ufffd\ufffe\uffff\ue000é😀\U000e0041\U0010ffff")
	return rapid.OneOf(
		rapid.SampledFrom([]string{"email", "E-mail", "Mobile", "no", "DOB", "Error", "clientId", "CLIENT ID", "Source row", "error ", "Import status", "", " ", "null", "yes", "- x", "---", "...", "<<", "a: b", "a #b",
			"{{x}}", "{Ref}", "}{", "run.date", "{sheet}", "1", "1.5", "0x1F", "2026-01-01", "=", "!x", "&x", "*x", "%x", "key", "\ufffe", "A\ufffeB", "e-mail\u200b", "E\u00adrror"}),
		rapid.StringOfN(rapid.RuneFrom(odd), 0, 12, -1),
		rapid.StringN(0, 20, -1),
	)
}

// A first mapping is right for its sheet, whatever stands in the header and
// whatever the file is called, unless the sheet cannot be imported at all.
func TestDraftOfAnyHeaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Request{
			Name: anyHeader().Draw(t, "name"), API: rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "api"),
			Sources: []string{anyHeader().Draw(t, "source")},
		}
		headers := rapid.SliceOfN(anyHeader(), 1, 10).Draw(t, "headers")
		if rapid.Bool().Draw(t, "with templates") {
			r.Service = draftService()
		}
		if len(usable(headers)) == 0 {
			t.Skip()
		}
		reserved := slices.ContainsFunc(headers, func(h string) bool { return mapping.ResultColumn(h, false) != "" })
		made := proposeFor(t, r, headers, nil)
		found := made.Problems(cell.Sheet{Name: "Leads", HeaderRow: 1, Header: headers})
		for _, p := range found {
			if p.Code != "reserved-column" {
				t.Fatalf("%v\n%s", found, made.YAML())
			}
		}
		if reserved != (len(found) > 0) {
			t.Fatalf("a header is reserved: %t, but found %v", reserved, found)
		}
	})
}
