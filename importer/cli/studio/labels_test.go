package studio

import "testing"

// A message for those who edit the file names the fields of the page.
func TestPageWords(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"translate the text in the mapping: values: {TEXT: Miss}":                "translate the text in the mapping: “What the texts mean”: TEXT: Miss",
		"is row 3 the one that names the columns? sheet.header_row says which":   "is row 3 the one that names the columns? “The row of the headers, in the view The sheet” says which",
		"add sheet: {timezone: Europe/London}, or wherever":                      "add “Time zone”: Europe/London, or wherever",
		"existing_activities is for clients that are found and reused":           "“Activities of known clients” is for clients that are found and reused",
		"name the column; or write existing: create to create every client":      "name the column; or write “What to do with known clients”: create to create every client",
		"declare how the sheet writes numbers under sheet.numbers":               "declare how the sheet writes numbers under “How numbers are written”",
		"say how the column writes dates, for example format: dd/mm/yyyy":        "say how the column writes dates, for example “Dates look like”: dd/mm/yyyy",
		"use the name and type of a column; its values are empty, see the sheet": "use the name and type of a column; its values are empty, see the sheet",
		"“Note: this” is not listed; expected name: and no more":                 "“Note: this” is not listed; expected name: and no more",
	} {
		if got := inPageWords(file); got != want {
			t.Errorf("%q is said as %q, want %q", file, got, want)
		}
	}
}
