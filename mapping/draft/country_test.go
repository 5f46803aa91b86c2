package draft

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/cell"
)

// TestRegion: a region is proposed where the numbers fit it and the rest of the sheet
// shows it. Elsewhere the country is a question, and the line has no region.
func TestRegion(t *testing.T) {
	t.Parallel()
	drama := func(_ *rand.Rand, i int) string { return fmt.Sprintf("07700 900%03d", i) }
	digits := func(pattern string) func(*rand.Rand, int) string { // d is any digit, e is 4 or 5
		return func(r *rand.Rand, _ int) string {
			return strings.Map(func(c rune) rune {
				switch c {
				case 'd':
					return '0' + rune(r.IntN(10))
				case 'e':
					return '4' + rune(r.IntN(2))
				}
				return c
			}, pattern)
		}
	}
	half := func(a, b func(*rand.Rand, int) string) func(*rand.Rand, int) string {
		return func(r *rand.Rand, i int) string {
			if i%2 == 0 {
				return a(r, i)
			}
			return b(r, i)
		}
	}
	english, german := []string{"First name", "Surname", "Phone", "Agreement no"}, []string{"Vorname", "Nachname", "Telefon", "Vertragsnr"}
	for name, c := range map[string]struct {
		headers []string // the third is that of the numbers
		number  func(*rand.Rand, int) string
		other   [2]string // one more column, and each of its cells
		want    string    // "" for a question
	}{
		"British mobiles":                      {english, digits("07e5 dddddd d"), [2]string{}, ""},
		"British mobiles, a post code":         {english, digits("07e5 dddddd d"), [2]string{"Post code", "M1 1AE"}, "GB"},
		"for films":                            {english, drama, [2]string{"Post code", "M1 1AE"}, "GB"},
		"for films, a mobile column":           {[]string{"First name", "Surname", "Mobile", "Amount"}, drama, [2]string{"Post code", "M1 1AE"}, "GB"},
		"German, German headers":               {german, half(digits("0151 eddddddd"), digits("0171 23edddd")), [2]string{}, ""},
		"German and Austrian, a post code":     {german, digits("0732 1edddd"), [2]string{"PLZ", "50667"}, "DE"},
		"American, a zip code":                 {english, digits("(212) edd-dddd"), [2]string{"Zip", "12207"}, "US"},
		"half British, half German":            {english, half(digits("07e5 dddddd d"), digits("0171 23ddddd")), [2]string{"Paid", "£1,230.50"}, ""},
		"British or German, pounds":            {english, digits("0741 06e5edd"), [2]string{"Paid", "£1,230.50"}, "GB"},
		"British or German, euros":             {english, digits("0741 06e5edd"), [2]string{"Paid", "1.230,50 €"}, ""},
		"other evidence against it":            {english, digits("0171 23ddddd"), [2]string{"Paid", "£1,230.50"}, ""},
		"a German post code, half +44":         {english, half(digits("0171 23edddd"), digits("+44 7911 dddddd")), [2]string{"PLZ", "50667"}, ""},
		"all with a country code after zeros":  {german, digits("0049 171 23edddd"), [2]string{"PLZ", "50667"}, "DE"},
		"half with a country code after zeros": {german, half(digits("0171 23edddd"), digits("0049 171 23edddd")), [2]string{"PLZ", "50667"}, "DE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, 5))
			headers := c.headers
			if c.other[0] != "" {
				headers = append(slices.Clone(headers), c.other[0])
			}
			var records []cell.Record
			for i := range 24 {
				records = append(records, cell.Record{Row: i + 2, Cells: cellsOf([]any{"Ann", "Lee", c.number(r, i), fmt.Sprintf("A%d", i), c.other[1]})})
			}
			for _, f := range proposeFor(t, Request{Name: "x", API: "v2"}, headers, records).client.fields {
				if f.to == "phone" && (f.value.region != c.want || (c.want == "") != (f.ask != "")) {
					t.Errorf("region %q, want %q; DECIDE %q; %s", f.value.region, c.want, f.ask, f.why)
				}
			}
		})
	}
}
