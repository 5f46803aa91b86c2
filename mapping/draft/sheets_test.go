package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// leadSheet is a sheet as people send it, with what a person would make of it.
type leadSheet struct {
	name, api string
	headers   []string
	row       func(r *rand.Rand, i int) []any // one row: texts, float64, bool, day, nil for an empty cell
	rows      int
	last      []any // a row of totals
	// want are the links that a person would make: client fields, attributes as
	// Template/Attribute, key and claim, each with its column.
	want map[string]string
	// answers replace lines with DECIDE: the beginning of the line, and what a person
	// writes instead. Other questions are answered with yes.
	answers [][2]string
	bad     int // rows that were made to be refused
}

// day is a date cell.
type day time.Time

func date(r *rand.Rand, from, to int) time.Time {
	return time.Date(from+r.IntN(to-from+1), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
}

func pick(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

var (
	ukFirst = []string{"Ann", "Bob", "Carol", "David", "Ella", "Frank", "Grace", "Harry", "Isla", "Jack"}
	ukLast  = []string{"Archer", "Baker", "Carter", "Dixon", "Evans", "Fisher", "Green", "Hughes", "Irwin", "Jones"}
	deFirst = []string{"Anna", "Bernd", "Clara", "Dieter", "Eva", "Franz", "Greta", "Hans", "Ines", "Jörg"}
	deLast  = []string{"Müller", "Schmidt", "Schneider", "Fischer", "Weber", "Meyer", "Wagner", "Becker", "Schäfer", "Koch"}
)

func ukMobile(r *rand.Rand) string {
	return fmt.Sprintf("077%02d %06d", r.IntN(100), r.IntN(1_000_000))
}
func deMobile(r *rand.Rand) string { return fmt.Sprintf("0151 %08d", 10_000_000+r.IntN(90_000_000)) }
func ukPostcode(r *rand.Rand) string {
	return fmt.Sprintf("%s%d %d%s", pick(r, "LS", "YO", "HU", "M", "S"), 1+r.IntN(20), 1+r.IntN(9), pick(r, "AB", "XY", "QT"))
}
func mailOf(first string, i int) string {
	return fmt.Sprintf("%s.%d@example.com", spelling.Replace(strings.ToLower(first)), i)
}

var leadSheets = []leadSheet{
	{
		name: "uk-loans", api: "v2", rows: 40,
		headers: []string{"Lead no", "Partner email", "Title", "First name", "Surname", "E-mail address", "Mobile no.", "D.O.B.", "Address", "Town", "Post code", "Lender", "Agreement no", "Loan amount", "APR", "Agreement date", "Opt in", "Batch"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, ukFirst...)
			var partner any
			if i%3 == 0 {
				partner = fmt.Sprintf("p%d@example.org", i)
			}
			return []any{fmt.Sprintf("L%04d", i), partner, pick(r, "Mr", "Mrs", "Ms"), first, pick(r, ukLast...), mailOf(first, i), ukMobile(r), day(date(r, 1950, 1999)), fmt.Sprintf("%d High Street", i+1), "York",
				ukPostcode(r), pick(r, "LLOY", "BARC", "Santander", "black horse"), fmt.Sprintf("A-%05d", 100+i), 1000 + 10*float64(r.IntN(500)), 5.9, day(date(r, 2015, 2020)), pick(r, "Yes", "No"), "B7"}
		},
		want: map[string]string{"key": "E-mail address", "claim": "Agreement no", "email": "E-mail address", "firstName": "First name", "lastName": "Surname", "phone": "Mobile no.",
			"Your details/Title": "Title", "Your details/Date of birth": "D.O.B.", "Your details/Home address": "Address", "Your details/Postcode": "Post code", "Your details/Consent to contact": "Opt in",
			"Agreement details/Lender": "Lender", "Agreement details/Agreement number": "Agreement no", "Agreement details/Amount": "Loan amount", "Agreement details/Interest rate": "APR", "Agreement details/Agreement signed at": "Agreement date"},
	},
	{
		name: "german-csv", api: "v2", rows: 40,
		headers: []string{"Anrede", "Vorname", "Nachname", "E-Mail", "Handy", "Geb.-Datum", "Straße", "Hausnr.", "PLZ", "Ort", "Kreditgeber", "Vertragsnr.", "Kreditbetrag", "Zinssatz", "Laufzeit", "Einwilligung", "Bemerkung"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, deFirst...)
			note := pick(r, "", "k.A.", "ruft zurück", "-")
			return []any{pick(r, "Herr", "Frau"), first, pick(r, deLast...), mailOf(first, i), deMobile(r), date(r, 1950, 1999).Format("02.01.2006"), pick(r, "Hauptstraße", "Am Markt", "Lindenweg"), fmt.Sprint(i + 1),
				fmt.Sprintf("%05d", 1000+r.IntN(90000)), pick(r, "Köln", "Berlin", "Jena"), pick(r, "Santander", "Barclays"), fmt.Sprintf("V%06d", i), fmt.Sprintf("%d.%03d,%02d €", 1+r.IntN(30), r.IntN(1000), r.IntN(100)),
				fmt.Sprintf("%d,%d%%", 1+r.IntN(9), r.IntN(10)), fmt.Sprint(12 * (1 + r.IntN(8))), pick(r, "Ja", "Nein"), note}
		},
		want: map[string]string{"key": "E-Mail", "claim": "Vertragsnr.", "email": "E-Mail", "firstName": "Vorname", "lastName": "Nachname", "phone": "Handy",
			"Your details/Title": "Anrede", "Your details/Date of birth": "Geb.-Datum", "Your details/Home address": "Straße+Hausnr.+Ort", "Your details/Postcode": "PLZ", "Your details/Consent to contact": "Einwilligung",
			"Agreement details/Lender": "Kreditgeber", "Agreement details/Agreement number": "Vertragsnr.", "Agreement details/Amount": "Kreditbetrag", "Agreement details/Interest rate": "Zinssatz", "Agreement details/Term in months": "Laufzeit",
			"Your circumstances/Notes": "Bemerkung"},
	},
	{
		name: "wide", api: "v2", rows: 30,
		headers: []string{"E-mail", "First name", "Last name", "DOB", "Postcode", "Address 1", "Address 2", "Town", "Lender 1", "Agreement 1", "Amount 1", "Lender 2", "Agreement 2", "Amount 2", "Lender 3", "Agreement 3", "Amount 3"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, ukFirst...)
			row := []any{mailOf(first, i), first, pick(r, ukLast...), date(r, 1950, 1999).Format("02/01/2006"), ukPostcode(r), fmt.Sprintf("%d Low Road", i+1), "Selby", "Leeds"}
			for n := range 3 {
				if n > 0 && i%(n+1) > 0 {
					row = append(row, nil, nil, nil)
					continue
				}
				row = append(row, pick(r, "Lloyds", "Barclays", "NatWest"), fmt.Sprintf("%d-%03d", n, i), fmt.Sprintf("£%d,%03d.00", 1+r.IntN(20), r.IntN(1000)))
			}
			return row
		},
		want: map[string]string{"key": "E-mail", "claim": "Agreement 1", "claim 2": "Agreement 2", "claim 3": "Agreement 3", "email": "E-mail", "firstName": "First name", "lastName": "Last name",
			"Your details/Date of birth": "DOB", "Your details/Home address": "Address 1+Address 2+Town", "Your details/Postcode": "Postcode",
			"Agreement details/Lender": "lender", "Agreement details/Agreement number": "agreement", "Agreement details/Amount": "amount"},
	},
	{
		name: "messy-csv", api: "v2", rows: 36,
		headers: []string{" E mail ", "FORENAME", "surname", "Tel.  no.", "Date Of  Birth", "P/Code", "Addr.", "LENDER NAME", "Agreement Ref", "Amount", "consent?", "Sort code", "Comments"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, ukFirst...)
			born := date(r, 1950, 1999)
			mail := mailOf(first, i)
			if i == 7 {
				mail = "not an address"
			}
			return []any{mail, strings.ToUpper(first), pick(r, ukLast...), pick(r, "01904 ", "0113 4", "020 7946 ")[:5] + fmt.Sprintf("%06d", 200000+r.IntN(700000)), time.Date(born.Year(), born.Month(), 1+r.IntN(12), 0, 0, 0, 0, time.UTC).Format("2/1/2006"), ukPostcode(r), "1 Mill Lane",
				pick(r, "lloyds", "BARCLAYS", "Nat West", "Moto Novo"), fmt.Sprintf("R/%d", i), pick(r, "1200", "950.50", "N/A", "£2,000"), pick(r, "Y", "N", "y"), fmt.Sprintf("20-%02d-%02d", r.IntN(100), r.IntN(100)), pick(r, "", "-", "unknown", "called twice")}
		},
		last: []any{"TOTAL", nil, nil, nil, nil, nil, nil, nil, nil, 4150.5},
		want: map[string]string{"key": " E mail ", "claim": "Agreement Ref", "email": " E mail ", "firstName": "FORENAME", "lastName": "surname", "phone": "Tel.  no.",
			"Your details/Date of birth": "Date Of  Birth", "Your details/Home address": "Addr.", "Your details/Postcode": "P/Code", "Your details/Consent to contact": "consent?", "Bank details/Sort code": "Sort code",
			"Agreement details/Lender": "LENDER NAME", "Agreement details/Agreement number": "Agreement Ref", "Agreement details/Amount": "Amount", "Your circumstances/Notes": "Comments"},
		answers: [][2]string{{"Date of birth:", `      Date of birth: {column: "Date Of  Birth", type: Date, format: d/m/yyyy}`},
			{"phone:", `    phone: {column: "Tel.  no.", type: Phone, region: GB}`}},
		bad: 1,
	},
	{
		name: "car-finance", api: "v1", rows: 30,
		headers: []string{"Title", "First name", "Last name", "E-mail", "Mobile", "DOB", "Address", "Post code", "Reg", "Make", "Model", "Mileage", "Price", "Deposit", "Bought", "New?", "Dealer", "Dealer address", "Opt in"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, ukFirst...)
			return []any{pick(r, "Mr", "Mrs", "Dr"), first, pick(r, ukLast...), mailOf(first, i), "+4477" + fmt.Sprintf("%08d", r.IntN(100_000_000)), date(r, 1950, 1999).Format("02/01/2006"), "1 Mill Lane", ukPostcode(r),
				fmt.Sprintf("AB%02d XYZ", i), pick(r, "Ford", "VW", "Kia"), pick(r, "Focus", "Golf", "Ceed"), float64(1000 * r.IntN(90)), 9000 + float64(r.IntN(9000)), float64(100 * r.IntN(9)), date(r, 2015, 2020).Format("02/01/2006"),
				pick(r, "N", "U"), pick(r, "Leeds Cars", "York Motors"), "2 Mill Lane", pick(r, "x", "")}
		},
		want: map[string]string{"key": "E-mail", "email": "E-mail", "firstName": "First name", "lastName": "Last name", "phone": "Mobile",
			"Your details/Title": "Title", "Your details/Date of birth": "DOB", "Your details/Home address": "Address", "Your details/Postcode": "Post code", "Your details/Consent to contact": "Opt in",
			"Vehicle details/Registration": "Reg", "Vehicle details/Make": "Make", "Vehicle details/Model": "Model", "Vehicle details/Mileage at purchase": "Mileage", "Vehicle details/Cash price": "Price", "Vehicle details/Deposit": "Deposit",
			"Vehicle details/Purchase date": "Bought", "Vehicle details/Bought new": "New?", "Vehicle details/Dealer": "Dealer", "Vehicle details/Dealer address": "Dealer address"},
		answers: [][2]string{{"# Bought new:", `      Bought new: {column: "New?", type: Checkbox, checked: ["N"], unchecked: [U]}`}},
	},
	{
		name: "several-claims", api: "v2", rows: 45,
		headers: []string{"Customer email", "Customer name", "Customer mobile", "Date of birth", "Creditor", "Contract number", "Amount borrowed", "Contract signed", "Loan term", "Settled on"},
		row: func(r *rand.Rand, i int) []any {
			who := i / 3
			own := rand.New(rand.NewPCG(7, uint64(who)))
			var settled any
			if i%2 == 0 {
				settled = date(r, 2019, 2022).Format("2006-01-02")
			}
			return []any{mailOf(ukFirst[who%10], who), ukFirst[who%10] + " " + ukLast[who%7], ukMobile(own), date(own, 1950, 1999).Format("2006-01-02"), pick(r, "Lloyds", "Barclays", "NatWest", "Zopa"), fmt.Sprintf("%08d", 500+i),
				float64(1000 + r.IntN(9000)), date(r, 2012, 2018).Format("2 Jan 2006"), float64(12 + r.IntN(48)), settled}
		},
		want: map[string]string{"key": "Customer email", "claim": "Contract number", "email": "Customer email", "name": "Customer name", "phone": "Customer mobile", "Your details/Date of birth": "Date of birth",
			"Agreement details/Lender": "Creditor", "Agreement details/Agreement number": "Contract number", "Agreement details/Amount": "Amount borrowed", "Agreement details/Agreement signed at": "Contract signed",
			"Agreement details/Term in months": "Loan term", "Agreement details/Settled on": "Settled on"},
		answers: [][2]string{{"phone:", "    phone: {column: Customer mobile, type: Phone, region: GB}"}},
	},
	{
		name: "crm-export", api: "v2", rows: 40,
		headers: []string{"leadId", "firstName", "lastName", "emailAddress", "cellPhone", "birthDate", "streetAddress", "city", "zipCode", "loanNumber", "loanAmount", "lenderName", "optIn", "employmentStatus", "monthlyIncome", "createdAt"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, ukFirst...)
			return []any{float64(9000 + i), first, pick(r, ukLast...), mailOf(first, i), fmt.Sprintf("(212) %03d-%04d", 200+r.IntN(700), r.IntN(10000)), date(r, 1950, 1999).Format("01/02/2006"), fmt.Sprintf("%d Main St", i), "Albany", fmt.Sprintf("%05d", 10000+r.IntN(80000)),
				fmt.Sprintf("LN%d", i), fmt.Sprintf("%d", 1000+r.IntN(5000)), pick(r, "Santander", "Barclays"), pick(r, "true", "false"), pick(r, "employed", "self employed", "Retired"), float64(1500 + r.IntN(900)), "2026-01-01T10:00:00Z"}
		},
		want: map[string]string{"key": "emailAddress", "claim": "loanNumber", "email": "emailAddress", "firstName": "firstName", "lastName": "lastName", "phone": "cellPhone", "Your details/Date of birth": "birthDate",
			"Your details/Home address": "streetAddress+city", "Your details/Postcode": "zipCode", "Your details/Consent to contact": "optIn", "Agreement details/Lender": "lenderName", "Agreement details/Agreement number": "loanNumber",
			"Agreement details/Amount": "loanAmount", "Your circumstances/Employment": "employmentStatus", "Your circumstances/Monthly income": "monthlyIncome"},
	},
	{
		name: "bank-details", api: "v2", rows: 40,
		headers: []string{"Client ID", "Name", "Contact email", "Landline", "Mobile", "Home address", "Postcode", "Sort code", "Account no", "Account holder", "Joint account", "Occupation status", "Income per month", "No. of dependants", "Preferred contact", "Notes", "Checked"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, ukFirst...)
			mail := any(mailOf(first, i))
			if i%8 == 3 {
				mail = nil
			}
			name := first + " " + pick(r, ukLast...)
			return []any{fmt.Sprintf("C%05d", i), name, mail, fmt.Sprintf("01904 %06d", 200000+r.IntN(700000)), ukMobile(r), "1 Mill Lane", ukPostcode(r), fmt.Sprintf("20-%02d-%02d", r.IntN(100), r.IntN(100)), fmt.Sprintf("%08d", r.IntN(100_000_000)),
				name, pick(r, "yes", "no"), pick(r, "Employed", "Self-employed", "Student"), fmt.Sprintf("%d", 1000+r.IntN(3000)), float64(r.IntN(4)), pick(r, "Email", "Telephone", "Post"), "rang back", pick(r, "", "ok")}
		},
		want: map[string]string{"key": "Client ID", "email": "Contact email", "name": "Name", "phone": "Mobile", "Your details/Home address": "Home address", "Your details/Postcode": "Postcode", "Your details/Preferred contact": "Preferred contact",
			"Bank details/Sort code": "Sort code", "Bank details/Account number": "Account no", "Bank details/Account holder": "Account holder", "Bank details/Joint account": "Joint account",
			"Your circumstances/Employment": "Occupation status", "Your circumstances/Monthly income": "Income per month", "Your circumstances/Dependants": "No. of dependants", "Your circumstances/Notes": "Notes"},
	},
	{
		name: "couples", api: "v2", rows: 40,
		headers: []string{"Customer no", "Salutation", "Forename", "Family name", "Email", "Phone", "Birthday", "Zip", "Maiden name", "Finance company", "Finance agreement no", "Principal", "Still running", "Consent"},
		row: func(r *rand.Rand, i int) []any {
			who := i / 2
			var maiden any
			if i%2 == 1 {
				maiden = pick(r, ukLast...)
			}
			return []any{float64(70000 + i), []string{"Mr", "Mrs"}[i%2], []string{"Adam", "Zoe"}[i%2], ukLast[who%10], fmt.Sprintf("family%d@example.com", who), ukMobile(r), day(date(r, 1950, 1999)), ukPostcode(r), maiden,
				pick(r, "Black Horse", "MotoNovo"), fmt.Sprintf("FA%d", i), fmt.Sprintf("%d.00", 500+r.IntN(900)), pick(r, "Yes", "No"), pick(r, "TRUE", "FALSE")}
		},
		want: map[string]string{"key": "Customer no", "claim": "Finance agreement no", "email": "Email", "firstName": "Forename", "lastName": "Family name", "phone": "Phone", "Your details/Title": "Salutation",
			"Your details/Date of birth": "Birthday", "Your details/Postcode": "Zip", "Your details/Previous surname": "Maiden name", "Your details/Consent to contact": "Consent", "Agreement details/Lender": "Finance company",
			"Agreement details/Agreement number": "Finance agreement no", "Agreement details/Amount": "Principal", "Agreement details/Still running": "Still running"},
	},
	{
		name: "german-cars", api: "v2", rows: 36,
		headers: []string{"Lfd. Nr.", "Name", "Vorname", "E-Mail-Adresse", "Telefon", "geboren am", "Anschrift", "Postleitzahl", "Kennzeichen", "Marke", "Modell", "Kilometerstand", "Kaufpreis", "Anzahlung", "Kaufdatum", "Neuwagen", "Autohaus", "Darlehensnr.", "Darlehensbetrag", "Familienstand"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, deFirst...)
			return []any{float64(i + 1), pick(r, deLast...), first, mailOf(first, i), "+49 151 " + fmt.Sprintf("%08d", 20_000_000+r.IntN(9_000_000)), day(date(r, 1950, 1999)), "Hauptstraße 1, Köln", fmt.Sprintf("%05d", 10000+r.IntN(80000)),
				fmt.Sprintf("K-AB %d", i), pick(r, "Opel", "VW"), pick(r, "Corsa", "Golf"), float64(1000 * r.IntN(200)), float64(9000 + r.IntN(9000)), float64(100 * r.IntN(20)), day(date(r, 2015, 2020)), pick(r, "ja", "nein"), pick(r, "Auto Nord", "Auto Süd"),
				fmt.Sprintf("D%05d", i), float64(5000 + r.IntN(5000)), pick(r, "ledig", "verheiratet")}
		},
		want: map[string]string{"key": "E-Mail-Adresse", "claim": "Darlehensnr.", "email": "E-Mail-Adresse", "firstName": "Vorname", "lastName": "Name", "phone": "Telefon", "Your details/Date of birth": "geboren am",
			"Your details/Home address": "Anschrift", "Your details/Postcode": "Postleitzahl", "Vehicle details/Registration": "Kennzeichen", "Vehicle details/Make": "Marke", "Vehicle details/Model": "Modell",
			"Vehicle details/Mileage at purchase": "Kilometerstand", "Vehicle details/Cash price": "Kaufpreis", "Vehicle details/Deposit": "Anzahlung", "Vehicle details/Purchase date": "Kaufdatum", "Vehicle details/Bought new": "Neuwagen",
			"Vehicle details/Dealer": "Autohaus", "Agreement details/Agreement number": "Darlehensnr.", "Agreement details/Amount": "Darlehensbetrag"},
	},
}

// records makes the sheet's rows from a seed.
func (s leadSheet) records() []cell.Record {
	r := rand.New(rand.NewPCG(uint64(len(s.name)), 1))
	var records []cell.Record
	for i := range s.rows {
		records = append(records, cell.Record{Row: i + 2, Cells: cellsOf(s.row(r, i))})
	}
	if s.last != nil {
		records = append(records, cell.Record{Row: s.rows + 2, Cells: cellsOf(s.last)})
	}
	return records
}

func cellsOf(row []any) []cell.Cell {
	var cells []cell.Cell
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			cells = append(cells, cell.Cell{})
		case cell.Cell:
			cells = append(cells, v)
		case string:
			cells = append(cells, cell.Cell{Kind: cell.Text, Raw: v, Shown: v})
		case float64:
			s := fmt.Sprint(v)
			cells = append(cells, cell.Cell{Kind: cell.Number, Raw: s, Shown: s})
		case day:
			serial := time.Time(v).Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24
			cells = append(cells, cell.Cell{Kind: cell.Date, Raw: fmt.Sprint(serial), Shown: time.Time(v).Format(time.DateOnly), Format: "dd/mm/yyyy"})
		}
	}
	return cells
}

// sandboxService is the reference data of the sandbox, with options for some of its
// drop-downs.
func sandboxService(t *testing.T) *mapping.Service {
	t.Helper()
	data, err := os.ReadFile("../../apiclient/sandbox/templates.json")
	if err != nil {
		t.Fatal(err)
	}
	var templates []struct {
		ID, Name                   string
		ActivityAttributeTemplates []struct{ ID, Name, DataType string }
	}
	if err := json.Unmarshal(data, &templates); err != nil {
		t.Fatal(err)
	}
	options := map[string][]string{
		"Title": {"Mr", "Mrs", "Miss", "Dr", "Other"}, "Lender": {"Lloyds", "Barclays", "NatWest", "Santander", "Black Horse", "MotoNovo"},
		"Employment": {"Employed", "Self-employed", "Retired", "Unemployed", "Student"}, "Preferred contact": {"E-mail", "Phone", "Post"},
	}
	s := &mapping.Service{Environment: "sandbox"}
	for _, template := range templates {
		made := mapping.Template{ID: template.ID, Name: template.Name}
		for _, a := range template.ActivityAttributeTemplates {
			made.Attributes = append(made.Attributes, mapping.AttributeTemplate{ID: a.ID, Name: a.Name, Type: convert.Type(a.DataType), Options: options[a.Name]})
		}
		s.Templates = append(s.Templates, made)
	}
	return s
}

// judge compares a proposal with what a person would make of the sheet: it returns how many links
// are the same, and which are others without a question.
func (s leadSheet) judge(p *Proposal) (right int, wrong []string) {
	left := maps.Clone(s.want)
	see := func(to, column string, idle bool, ask string) {
		want, ok := left[to]
		switch {
		case ok && want == column:
			delete(left, to)
			if !idle {
				right++
			}
		case !idle && ask == "":
			wrong = append(wrong, to+" = "+column)
		}
	}
	see("key", p.client.key.name, false, "does it identify a client?")
	for i, c := range p.claims {
		to := "claim"
		if i > 0 {
			to = fmt.Sprintf("claim %d", i+1)
		}
		see(to, c.key, false, c.ask)
	}
	columnOf := func(l link) string {
		if l.value.parts == nil {
			return l.value.column.name
		}
		var names []string
		for _, c := range l.value.parts {
			names = append(names, c.name)
		}
		return strings.Join(names, "+")
	}
	for _, l := range p.client.fields {
		see(l.to, columnOf(l), l.idle, l.ask)
	}
	for _, t := range p.live { // the others are comments
		for _, l := range t.links {
			see(t.name+"/"+l.to, columnOf(l), l.idle, l.ask)
		}
	}
	return right, wrong
}

// answered is the mapping when the questions have been answered.
func (s leadSheet) answered(t *testing.T, yaml []byte) []byte {
	t.Helper()
	lines := strings.Split(string(yaml), "\n")
	for _, a := range s.answers {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimLeft(l, " "), a[0]) })
		if i < 0 {
			t.Fatalf("no line begins with %q:\n%s", a[0], yaml)
		}
		lines[i] = a[1]
	}
	return []byte(strings.Join(lines, "\n"))
}

// dryRun plans all clients of the sheet, and returns what is wrong with their rows.
func (s leadSheet) dryRun(t *testing.T, yaml []byte, service *mapping.Service) (clients int, wrong []string) {
	t.Helper()
	m, found := mapping.Parse("mapping.yaml", yaml)
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: s.headers}
	if len(found) == 0 {
		var b *mapping.Binding
		if b, found = mapping.Bind(m, &sheet, service, "2026-11-20"); len(found) == 0 {
			rows, order := map[mapping.Identity][]mapping.ConvertedRow{}, []mapping.Identity{}
			for _, record := range s.records() {
				row := b.Convert(record)
				if row.Skipped != "" {
					continue
				}
				who := row.Client
				if rows[who] == nil {
					order = append(order, who)
				}
				rows[who] = append(rows[who], row)
			}
			for i, who := range order {
				for _, p := range b.Plan(i+1, rows[who]).Problems {
					wrong = append(wrong, fmt.Sprintf("%v %s: %s [%s]", p.Where, p.Code, p.Message, p.Seen))
				}
			}
			return len(order), wrong
		}
	}
	t.Fatalf("check finds\n%v\n%s", found, yaml)
	return 0, nil
}

// TestProposalOfSheets judges the proposals for ten sheets by the links that a person
// would make: most of them are right, and no link is wrong without a question. The
// mapping passes a check, and when the questions are answered, every row that is not
// meant to be bad can be imported.
func TestProposalOfSheets(t *testing.T) {
	t.Parallel()
	service := sandboxService(t)
	var right atomic.Int64
	t.Run("sheets", func(t *testing.T) {
		for _, s := range leadSheets {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				made := proposeFor(t, Request{Name: s.name, API: s.api, Sources: []string{s.name + ".xlsx"}, Service: service}, s.headers, s.records())
				yaml := made.YAML()
				golden(t, "testdata/"+s.name+".yaml", yaml)
				same, wrong := s.judge(made)
				right.Add(int64(same))
				if t.Logf("%d of %d links are right", same, len(s.want)); len(wrong) > 0 {
					t.Errorf("wrong without a question: %q", wrong)
				}
				s.dryRun(t, yaml, service) // it passes a check as it is
				clients, wrong := s.dryRun(t, s.answered(t, yaml), service)
				if len(wrong) != s.bad || clients == 0 {
					t.Errorf("%d clients, and wrong is, want %d:\n%s", clients, s.bad, strings.Join(wrong, "\n"))
				}
			})
		}
	})
	var links int64
	for _, s := range leadSheets {
		links += int64(len(s.want))
	}
	if 100*right.Load() < 80*links {
		t.Errorf("%d of %d links are right, want 80 %%", right.Load(), links)
	}
}
