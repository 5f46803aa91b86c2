package draft

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/cell"
)

// TestRegion: a region is proposed where the numbers fit it and the rest of the sheet
// shows it. Elsewhere the country is a question, and the line has no region.
func TestRegion(t *testing.T) {
	t.Parallel()
	english, german := []string{"First name", "Surname", "Phone", "Agreement no"}, []string{"Vorname", "Nachname", "Telefon", "Vertragsnr"}
	for name, c := range map[string]struct {
		headers []string  // the third is that of the numbers
		numbers string    // one, or two that take turns; dd is the row
		other   [2]string // one more column, and each of its cells
		want    string    // "" for a question
	}{
		"British mobiles":                      {english, "0745 3333dd 3", [2]string{}, ""},
		"British mobiles, a post code":         {english, "0745 3333dd 3", [2]string{"Post code", "M1 1AE"}, "GB"},
		"for films":                            {english, "07700 9000dd", [2]string{"Post code", "M1 1AE"}, "GB"},
		"for films, a mobile column":           {[]string{"First name", "Surname", "Mobile", "Amount"}, "07700 9000dd", [2]string{"Post code", "M1 1AE"}, "GB"},
		"German, German headers":               {german, "0151 433333dd | 0171 23433dd", [2]string{}, ""},
		"German and Austrian, a post code":     {german, "0732 1433dd", [2]string{"PLZ", "50667"}, "DE"},
		"American, a zip code":                 {english, "(212) 433-33dd", [2]string{"Zip", "12207"}, "US"},
		"half British, half German":            {english, "0745 3333dd 3 | 0171 23333dd", [2]string{"Paid", "£1,230.50"}, ""},
		"British or German, pounds":            {english, "0741 06454dd", [2]string{"Paid", "£1,230.50"}, "GB"},
		"British or German, euros":             {english, "0741 06454dd", [2]string{"Paid", "1.230,50 €"}, ""},
		"other evidence against it":            {english, "0171 23333dd", [2]string{"Paid", "£1,230.50"}, ""},
		"a German post code, half +44":         {english, "0171 23433dd | +44 7911 3333dd", [2]string{"PLZ", "50667"}, ""},
		"all with a country code after zeros":  {german, "0049 171 23433dd", [2]string{"PLZ", "50667"}, "DE"},
		"half with a country code after zeros": {german, "0171 23433dd | 0049 171 23433dd", [2]string{"PLZ", "50667"}, "DE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			headers := c.headers
			if c.other[0] != "" {
				headers = append(slices.Clone(headers), c.other[0])
			}
			var records []cell.Record
			for i := range 24 {
				one, two, both := strings.Cut(c.numbers, " | ")
				if both && i%2 == 1 {
					one = two
				}
				number := strings.Replace(one, "dd", fmt.Sprintf("%02d", i), 1)
				records = append(records, cell.Record{Row: i + 2, Cells: cellsOf([]any{"Ann", "Lee", number, fmt.Sprintf("A%d", i), c.other[1]})})
			}
			for _, f := range proposeFor(t, Request{Name: "x", API: "v2"}, headers, records).fields {
				if f.to == "phone" && (f.value.region != c.want || (c.want == "") != (f.ask != "")) {
					t.Errorf("region %q, want %q; DECIDE %q; %s", f.value.region, c.want, f.ask, f.why)
				}
			}
		})
	}
}
