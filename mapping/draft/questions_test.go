package draft

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// proposed lists the links of a proposal: Template/Attribute = Column of those in use,
// and with ? for = of those that are comments.
func proposed(p *Proposal) map[string]string {
	all := map[string]string{}
	see := func(t template, rest bool) {
		for _, l := range t.links {
			mark := "= "
			if l.idle || rest {
				mark = "? "
			}
			if l.value.column != nil {
				all[t.name+"/"+l.to] = mark + l.value.column.name
			}
		}
	}
	for _, t := range p.live {
		see(t, false)
	}
	for _, t := range p.rest {
		see(t, true)
	}
	return all
}

// service is a service with one template that has these attributes: Amount:Currency, Lender:DropDown=Lloyds,Barclays.
func service(attributes ...string) *mapping.Service {
	t := mapping.Template{ID: "1", Name: "Loan"}
	for i, a := range attributes {
		name, typ, _ := strings.Cut(a, ":")
		typ, options, _ := strings.Cut(typ, "=")
		of := mapping.AttributeTemplate{ID: fmt.Sprint(i), Name: name, Type: convert.Type(typ)}
		if options != "" {
			of.Options = strings.Split(options, ",")
		}
		t.Attributes = append(t.Attributes, of)
	}
	return &mapping.Service{Templates: []mapping.Template{t}}
}

// TestQuestions: what the cells or the names leave open is a question, and until it is
// answered the mapping sends nothing of it.
func TestQuestions(t *testing.T) {
	t.Parallel()
	on := func(month, d int) time.Time { return time.Date(1975, time.Month(month), d, 0, 0, 0, 0, time.UTC) }
	text := func(s string) func(int) any { return func(int) any { return s } }
	for name, c := range map[string]struct {
		attributes []string
		headers    []string
		cell       func(i int) any // of each column but the first
		want       string          // what is proposed for the first attribute: = Column, or ? Column
		lines      []string        // parts of lines of the mapping
	}{
		"Excel exchanged day and month": {[]string{"Date of birth:Date", "Lender:Text"}, []string{"Date of birth"}, func(i int) any {
			if i%2 == 0 {
				return day(on(1+i%12, 1+i%12))
			}
			return fmt.Sprintf("%d/%02d/1975", 13+i%15, 1+i%12)
		}, "? Date of birth", []string{"exchange day and month", "12 of 12 cells that are dates have a day up to 12; 12 of 12 cells that stayed texts in the order dd/mm have a day over 12"}},
		"the other way round": {[]string{"Date of birth:Date"}, []string{"Date of birth"}, func(i int) any {
			if i%2 == 0 {
				return day(on(1+i%12, 1+i%12))
			}
			return fmt.Sprintf("%02d/%d/1975", 1+i%12, 13+i%15)
		}, "? Date of birth", []string{"in the order mm/dd"}},
		"dates and texts": {[]string{"Date of birth:Date"}, []string{"Date of birth"}, func(i int) any {
			if i%2 == 0 {
				return day(on(1+i%12, 1+i))
			}
			return fmt.Sprintf("%02d/%02d/1975", 1+i, 1+i%12)
		}, "= Date of birth", nil},
		"either order": {[]string{"Date of birth:Date"}, []string{"Date of birth"}, func(i int) any { return fmt.Sprintf("%02d/%02d/1975", 1+i%12, 1+i%11) }, "= Date of birth",
			[]string{"format: [dd/mm/yyyy, mm/dd/yyyy]", "day or month first? No cell shows it"}},
		"both orders": {[]string{"Date of birth:Date"}, []string{"Date of birth"}, func(i int) any {
			if i%2 == 0 {
				return fmt.Sprintf("%02d/%02d/1975", 13+i%12, 1+i%12)
			}
			return fmt.Sprintf("%02d/%02d/1975", 1+i%12, 13+i%12)
		}, "= Date of birth", []string{"format: [dd/mm/yyyy, mm/dd/yyyy]", "day and month are in both orders"}},
		"a year of two digits": {[]string{"Date of birth:Date"}, []string{"Geb."}, func(i int) any { return fmt.Sprintf("%02d.%02d.80", 1+i, 1+i%12) }, "= Geb.", []string{"{column: Geb., type: Date, format: dd.mm.yy, years: past}"}},
		"a year of two digits, not of birth": {[]string{"Settled on:Date"}, []string{"Settled on"}, func(i int) any { return fmt.Sprintf("%02d/%02d/24", 13+i%12, 1+i%12) }, "? Settled on",
			[]string{"years of two digits: are all these days past?"}},
		"months in full":       {[]string{"Date of birth:Date"}, []string{"Date of birth"}, func(i int) any { return fmt.Sprintf("%02d September 1968", 1+i) }, "= Date of birth", []string{"format: d mmmm yyyy}"}},
		"days for a time":      {[]string{"Signed at:DateTime"}, []string{"Signed at"}, text("2020-05-17"), "? Signed at", []string{"midnight of sheet.timezone", "timezone: "}},
		"times for a time":     {[]string{"Signed at:DateTime"}, []string{"Signed at"}, text("2020-05-17 10:15"), "= Signed at", nil},
		"times for a day":      {[]string{"Settled on:Date"}, []string{"Settled on"}, text("2020-05-17 10:15"), "", []string{"nothing uses: Settled on"}},
		"some days":            {[]string{"Settled on:Date"}, []string{"Settled on"}, func(i int) any { return []any{"2020-05-17", "later"}[i/22] }, "= Settled on", []string{"dates in 22 of 24 cells"}},
		"numbers are no dates": {[]string{"Settled on:Date"}, []string{"Settled on"}, func(i int) any { return float64(100 + i) }, "", []string{"nothing uses: Settled on"}},
		"thousands or fractions, German": {[]string{"Amount:Currency"}, []string{"Betrag", "Vorname", "Nachname"}, func(i int) any { return fmt.Sprintf("%d.500", 1+i) }, "? Betrag",
			[]string{`  numbers: {decimal: ",", group: "."}`, `is 18.000 eighteen thousand or eighteen? It is sent as 18000 with sheet.numbers {decimal: ",", group: "."}, and as 18 with {decimal: ".", group: ","}`}},
		"thousands or fractions": {[]string{"Amount:Currency"}, []string{"Amount"}, func(i int) any { return fmt.Sprintf("%d,500", 1+i) }, "? Amount", []string{"is 18,000 eighteen thousand"}},
		"thousands of pounds":    {[]string{"Amount:Currency"}, []string{"Amount"}, func(i int) any { return fmt.Sprintf("£%d,500", 1+i) }, "= Amount", nil},
		"percentages":            {[]string{"Interest rate:Number"}, []string{"APR"}, text("5.9%"), "? APR", []string{"5% is sent as 0.05"}},
		"percentages of money":   {[]string{"Amount:Currency"}, []string{"Amount"}, text("5.9%"), "", []string{"nothing uses: Amount"}},
		"a time without a type":  {[]string{"Signed:"}, []string{"Signed"}, text("2020-05-17 10:15"), "? Signed", []string{"type: DateTime", "the cells hold dates with times"}},
		"a date without a type":  {[]string{"Born:"}, []string{"DOB"}, text("31/12/1980"), "? DOB", []string{"Born: {column: DOB, type: Date, format: dd/mm/yyyy}"}},
		"an amount without a type": {[]string{"Amount:"}, []string{"Amount"}, text("1.234,50"), "? Amount",
			[]string{"Amount: {column: Amount, type: Number}", `numbers: {decimal: ",", group: "."}`}},
		"yes or no without a type":              {[]string{"Consent:"}, []string{"Consent"}, text("Yes"), "? Consent", []string{"type: Checkbox"}},
		"a word, and formulas without a result": {[]string{"Consent:Checkbox"}, []string{"Consent"}, func(i int) any { return []any{"Yes", cell.Cell{Kind: cell.Uncomputed}}[i%2] }, "", []string{"nothing uses: Consent"}},
		"yes, no and other words":               {[]string{"Consent:Checkbox"}, []string{"Consent"}, func(i int) any { return []any{"Yes", "No", "maybe"}[(i+1)%25/12] }, "= Consent", []string{"neither list has the texts of 1 cell, which are invalid"}},
		"texts without a type":                  {[]string{"Lender:"}, []string{"Lender"}, text("Lloyds"), "= Lender", []string{"  # DECIDE: the service reports no types here.", "      Lender: Lender   # the same name\n"}},
		"a code without a type":                 {[]string{"Agreement number:"}, []string{"Agreement no"}, func(i int) any { return float64(9000 + i) }, "= Agreement no", []string{"{column: Agreement no, type: Text}"}},
		"a term in years":                       {[]string{"Term in months:Number"}, []string{"Term"}, func(i int) any { return float64(3 + i%3) }, "? Term", []string{"are these months, or years? 24 of 24 cells are less than 12"}},
		"a term":                                {[]string{"Term in months:Number"}, []string{"Term"}, func(i int) any { return float64(12 + 12*(i%3)) }, "= Term", nil},
		"a term in few months":                  {[]string{"Term in months:Number"}, []string{"Term (months)"}, func(i int) any { return float64(3 + i%3) }, "= Term (months)", nil},
		"an account":                            {[]string{"Account number:Text"}, []string{"Account no"}, func(i int) any { return fmt.Sprintf("%08d", i) }, "? Account no", []string{"the client's bank account"}},
		"a bank account":                        {[]string{"Account number:Text"}, []string{"Account no", "Sort code"}, func(i int) any { return fmt.Sprintf("%08d", i) }, "= Account no", nil},
		"drop-down of many texts":               {[]string{"Lender:DropDown"}, []string{"Lender"}, func(i int) any { return fmt.Sprint("Bank ", i) }, "= Lender", []string{"DECIDE: the texts are sent as they are", "24 different texts"}},
		"drop-down of other texts":              {[]string{"Lender:DropDown=Lloyds,Barclays"}, []string{"Lender"}, text("HSBC"), "= Lender", []string{"DECIDE: the texts are sent as they are"}},
		"drop-down of options":                  {[]string{"Lender:DropDown=Lloyds,Barclays"}, []string{"Lender"}, text("Lloyds"), "= Lender", []string{"type: DropDown}   # the same name; 1 different text\n"}},
		"drop-down without options":             {[]string{"Lender:DropDown"}, []string{"Lender"}, text("Lloyds"), "= Lender", []string{"DECIDE: the texts are sent as they are"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			headers := append([]string{"Email"}, append(c.headers, "Town")...)
			var records []cell.Record
			for i := range 24 {
				row := []any{mailOf("Ann", i), c.cell(i)}
				for range c.headers {
					row = append(row, "Lee")
				}
				records = append(records, cell.Record{Row: i + 2, Cells: cellsOf(row)})
			}
			made := proposeFor(t, Request{Name: "x", API: "v2", Service: service(append(c.attributes, "Town:Text")...)}, headers, records)
			first, _, _ := strings.Cut(c.attributes[0], ":")
			if got := proposed(made)["Loan/"+first]; got != c.want {
				t.Errorf("%s %s, want %s", first, got, c.want)
			}
			yaml := string(made.YAML())
			for _, line := range c.lines {
				if !strings.Contains(yaml, line) {
					t.Errorf("no %s in\n%s", line, yaml)
				}
			}
			passes(t, made, headers)
			takes(t, made, headers, answers(made)...)
		})
	}
}

// TestExchangedDates: a watch warns of a column in which day and month of some cells are
// probably exchanged, and of no other.
func TestExchangedDates(t *testing.T) {
	t.Parallel()
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"Email", "Born", "Signed", "Paid"}}
	d := NewSheetWatch(sheet)
	for i := range 24 {
		on := func(d int) day { return day(time.Date(1975, time.Month(1+i%12), d, 0, 0, 0, 0, time.UTC)) }
		row := []any{mailOf("Ann", i), on(1 + i%12), on(1 + i), fmt.Sprintf("%02d/02/2020", 1+i)}
		if i%2 == 0 {
			row[1] = fmt.Sprintf("%d/02/1975", 13+i%12)
		}
		d.See(cell.Record{Row: i + 2, Cells: cellsOf(row)})
	}
	found := d.Warnings()
	if len(found) != 1 || found[0].Code != "swapped-dates" || found[0].Where.Cell != "B1" || !strings.Contains(found[0].Message, "12 of 12 cells that are dates have a day up to 12;") {
		t.Errorf("%v", slices.Clone(found))
	}
}

// TestLooksLike: which headers are taken for an attribute (=), which are a question (?),
// and which are left alone.
func TestLooksLike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ attribute, header, want string }{
		{"Mobile", "Tel (mobile)", "="}, {"Mobile", "Mobile tel.", "="}, {"First name", "Name (first)", "="}, {"Last name", "Name, last", "="}, {"Date of birth", "Birth date", "="},
		{"Preferred contact", "Contact preference?", "="}, {"Address", "Dealer address", ""}, {"Consent to contact", "OK to contact? (Y/N)", "="}, {"Consent to contact", "Opt in - yes or no", "="},
		{"Date of birth", "DOB (dd/mm/yyyy)", "="}, {"Date of birth", "Date of birth DD.MM.YYYY", "="}, {"Lender", "Finance co.", "="},
		{"First name", "Forename(s)", "="}, {"First name", "Applicant 1 forename", "="}, {"First name", "Applicant 2 forename", ""}, {"First name", "First", "="},
		{"Mobile", "Telephone number (mobile)", "="}, {"Phone", "Phone 1", "="}, {"Phone", "Best contact number", "="},
		{"Bank or lender", "Lender", "="}, {"Annual percentage rate", "APR", "="}, {"Interest rate", "APR", "="}, {"Interest rate", "Interest", "?"}, {"Interest rate", "Interest charged", ""},
		{"GDPR consent", "Opt-in (GDPR)", "="}, {"GDPR consent", "Opt In", ""}, {"Consent to contact", "Opt-in (GDPR)", ""}, {"Consent to contact", "Opt in", "="}, {"Consent to contact", "Opt out", ""},
		{"Consent to contact", "Marketing opt-out", ""}, {"Consent to contact", "Do not contact", ""}, {"Consent to contact", "Consent withdrawn", ""},
		{"Start date", "Agreement Start Date", "="}, {"Date of contract", "Vertragsdatum", "="}, {"Date of contract", "Contract date", "="}, {"Date signed", "Contract date", ""}, {"Date signed", "Date of signature", "="},
		{"Agreement signed at", "Agreement date", "?"}, {"Agreement signed at", "Agreement No", ""}, {"Agreement signed at", "Contract signed", "="},
		{"Agreement number", "Loan #", "="}, {"Mileage at purchase", "Mileage", "?"}, {"Account number", "Customer account number", ""}, {"Lender", "Previous lender", ""},
	} {
		made := "" // the attribute has no column
		x := &column{name: c.header, meaning: meaningOf(c.header)}
		switch compareNames(c.attribute, meaningOf(c.attribute), x) {
		case partly:
			made = "?"
		case likely, synonym, sameWords, sameName:
			made = "="
		}
		if made != c.want {
			t.Errorf("%s for %s: %q, want %q (%q, %q)", c.header, c.attribute, made, c.want, x.meaning, meaningOf(c.attribute))
		}
	}
}

// TestNearerName: of two attributes the one whose name is nearer has the column, and
// columns First and Last are names.
func TestNearerName(t *testing.T) {
	t.Parallel()
	headers := []string{"Email", "First", "Last", "Vertragsdatum"}
	records := []cell.Record{{Row: 2, Cells: cellsOf([]any{"a@example.com", "Ann", "Lee", "17.05.2020"})}, {Row: 3, Cells: cellsOf([]any{"b@example.com", "Bob", "Lee", "18.05.2020"})}}
	made := proposeFor(t, Request{Name: "x", API: "v2", Service: service("Date signed:DateTime", "Date of contract:Date")}, headers, records)
	if got := proposed(made); len(got) != 1 || got["Loan/Date of contract"] != "= Vertragsdatum" {
		t.Errorf("%q", got)
	}
	var fields []string
	for _, f := range made.fields {
		fields = append(fields, f.to+" = "+f.value.column.name)
	}
	if want := []string{"email = Email", "firstName = First", "lastName = Last"}; !slices.Equal(fields, want) {
		t.Errorf("%q, want %q", fields, want)
	}
	made = proposeFor(t, Request{Name: "x", API: "v2"}, []string{"First", "Full name"}, nil)
	if got := made.fields[len(made.fields)-1]; got.to != "name" || got.value.column.name != "Full name" {
		t.Errorf("a full name beside a first name is %s", got.to)
	}
}

// TestLines: what the mapping says of sheets of a few columns, and what it does not.
func TestLines(t *testing.T) {
	t.Parallel()
	many := func(row func(i int) []any) (rows [][]any) {
		for i := range 24 {
			rows = append(rows, row(i))
		}
		return rows
	}
	lender := service("Lender:Text")
	scopes := service("Lender:Text")
	scopes.Templates = append(scopes.Templates, mapping.Template{ID: "2", Name: "Car", Attributes: []mapping.AttributeTemplate{{ID: "r", Name: "Registration", Type: convert.Text}}},
		mapping.Template{ID: "3", Name: "You", Attributes: []mapping.AttributeTemplate{{ID: "p", Name: "Postcode", Type: convert.Text}}})
	for name, c := range map[string]struct {
		service    *mapping.Service
		headers    []string
		rows       [][]any
		parts, not []string
	}{
		"with claims, what is not certainly of the client is a question": {
			scopes, []string{"Email", "Agreement no", "Lender", "Reg", "Postcode"},
			many(func(i int) []any {
				return []any{mailOf("Ann", i), map[bool]any{false: fmt.Sprintf("A%d", i)}[i == 7], "Lloyds", fmt.Sprintf("AB%02d XYZ", i), "M1 1AE"}
			}),
			[]string{
				"  - template: Loan\n    on: claim   # it holds the claim's lender\n",
				"  - template: Car\n    # on: claim   # DECIDE: is it of each claim? Without this line it is of the client\n",
				"  - template: You\n    attributes:\n",
			}, nil,
		},
		"the number of an agreement is not the key of clients who have several, though every row has one and some rows lack the others": {
			lender, []string{"Ref", "First name", "Surname", "Email", "Agreement no"},
			[][]any{
				{"101", "Ann", "Bright", "ann@example.com", "A1"},
				{nil, nil, nil, nil, "A2"},
				{"102", "Tom", "Cole", "tom@example.com", "A3"},
				{"101", "Ann", "Bright", "Ann@example.com", "A4"},
				{"103", "Joan", "Webb", nil, "A5"},
				{"104", "Ian", "Frost", "ian@example.com", "A6"},
			},
			[]string{"# DECIDE: client.key: does Ref identify a client? (4 different in 6 rows, 1 empty)\n"}, nil,
		},
		"where namesakes of one household share an address, the number that every row has stays the key": {
			lender, []string{"Ref", "First name", "Surname", "Email", "Agreement no"},
			[][]any{
				{"101", "Ann", "Bright", "home@example.com", "A1"},
				{"102", "Tom", "Bright", "home@example.com", "A2"},
				{"103", "Ian", "Frost", "ian@example.com", "A3"},
			},
			[]string{"  key: Ref\n"}, nil,
		},
		// Without it every client would be created again. It is no key.
		"a column that is called an e-mail address or a phone number is one, with a question, though many of its cells are something else": {
			lender, []string{"Lead ID", "Surname", "Email Address", "Contact Tel", "Fax"},
			[][]any{
				{"L1", "Bright", "ann@example.com", "7700900101", "none"},
				{"L2", "Cole", "tom@example.com; t.cole@example.com", "7.70090E+09", "none"},
				{"L3", "Shah", "kim@example.com", "07700 900103", "none"},
			},
			[]string{
				"  key: Lead ID\n",
				"  lookup:\n    email: Email Address\n",
				"    # DECIDE: is it this column? Many of its cells are something else (e-mail addresses in 2 of 3 cells)\n    email: {column: Email Address, type: Email}\n",
				"is it this column? Many of its cells are something else (phone numbers in 2 of 3 cells)",
			}, nil,
		},
		// What people write into empty cells is empty, unless it may be an answer; some people are called Null.
		"a column of e-mail addresses under any header is one, with a question": {
			nil, []string{"Kontakt", "Surname", "Town", "Status"},
			[][]any{{"a@example.com", "Null", "n/a", "none"}, {"b@example.com", "Lee", "Leeds", "None"}},
			[]string{
				"  lookup:\n    email: Kontakt\n",
				"# DECIDE: its cells are e-mail addresses, whatever its header says (e-mail addresses in 2 of 2 cells)\n",
				"  empty: [n/a]   # n/a in 1 cell\n",
			}, nil,
		},
		"the country of the numbers says the timezone of times, and the phone number finds a client without an e-mail address": {
			service("Signed at:DateTime"), []string{"Ref", "Email", "Mobile", "Post code", "Signed at"},
			many(func(i int) []any {
				return []any{fmt.Sprint("R", i), []any{mailOf("Ann", i), nil}[i%5/4], fmt.Sprintf("07911 %06d", 123456+i), "M1 1AE", "2020-05-17 10:15"}
			}),
			[]string{"  timezone: Europe/London", "region: GB}   # where there is no e-mail address\n"}, nil,
		},
		"no text of a cell by which a person may be known is repeated, and the columns that no mapping can use are named": {
			lender, []string{"Email", "Agent Name", "Handled by", "Comment", "Town", "Status", "Amount", "amount"},
			many(func(i int) []any {
				return []any{mailOf("Ann", i), "Jo Agent", []string{"Kim Hand", "Lou Hand"}[i%2], "rang Mr Miller", "Leeds", "New", "5", "6"}
			}),
			[]string{"nothing uses: Agent Name, Handled by, Comment, Town, Status", "with their letters: Amount [G], amount [H]"},
			[]string{"Jo Agent", "Kim Hand", "rang", "Leeds", "@"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var records []cell.Record
			for i, row := range c.rows {
				records = append(records, cell.Record{Row: i + 2, Cells: cellsOf(row)})
			}
			made := proposeFor(t, Request{Name: "x", API: "v2", Service: c.service}, c.headers, records)
			yaml := string(made.YAML())
			for _, part := range append(c.parts, c.not...) {
				if strings.Contains(yaml, part) == slices.Contains(c.not, part) {
					t.Errorf("%q is in it %t:\n%s", part, strings.Contains(yaml, part), yaml)
				}
			}
			takes(t, made, c.headers, answers(made)...)
		})
	}
}

// TestTheQuestionsOfAPersonStandTogether: what only a person can decide is asked at the top, and what has a safe default is neither asked nor
// written. On studio's page each question stays beside its line.
func TestTheQuestionsOfAPersonStandTogether(t *testing.T) {
	t.Parallel()
	headers := []string{"E-mail", "Surname", "Agreement no", "Signed at"}
	records := []cell.Record{{Row: 2, Cells: cellsOf([]any{"ann@example.com", "Lee", "A-1", "2020-05-17 10:15"})}}
	made := proposeFor(t, Request{Name: "x", API: "v2", Sources: []string{"x.xlsx"}, Service: service("Signed at:DateTime", "Agreement number:Text")}, headers, records)
	top, rest, _ := strings.Cut(string(made.YAML()), "\nname: x\n")
	for _, about := range []string{"name: what", "client.key: does E-mail identify", "client.existing_activities: does", "claims: is each row", "activities: is this"} {
		if !strings.Contains(top, "\n# DECIDE: "+about) {
			t.Errorf("no question about %q in\n%s", about, top)
		}
	}
	if n := strings.Count(top, "DECIDE: "); n != 5 || strings.Contains(rest, "existing:") || strings.Count(rest, "DECIDE") != 2 {
		t.Errorf("%d questions in\n%s\nand the rest is\n%s", n, top, rest)
	}
	if plain := string(made.Plain()); !strings.Contains(plain, "  # DECIDE: does E-mail identify a client? (1 different") || strings.HasPrefix(plain, "#") {
		t.Errorf("for a page it is\n%s", plain)
	}
}
