package draft

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// leadSheet is a sheet as people send it.
type leadSheet struct {
	name, api string
	headers   []string
	row       func(r *rand.Rand, i int) []any // one row: texts, float64, bool, day, nil for an empty cell
	rows      int
	last      []any // a row of totals
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
		name: "german-csv", api: "v2", rows: 40,
		headers: []string{"Anrede", "Vorname", "Name", "E-Mail", "Handy", "Geb.-Datum", "Straße", "Hausnr.", "PLZ", "Ort", "Kreditgeber", "Vertragsnr.", "Kreditbetrag", "Zinssatz", "Laufzeit", "Einwilligung", "Bemerkung"},
		row: func(r *rand.Rand, i int) []any {
			first := pick(r, deFirst...)
			note := pick(r, "", "k.A.", "ruft zurück", "-")
			return []any{pick(r, "Herr", "Frau"), first, pick(r, deLast...), mailOf(first, i), deMobile(r), date(r, 1950, 1999).Format("02.01.2006"), pick(r, "Hauptstraße", "Am Markt", "Lindenweg"), fmt.Sprint(i + 1),
				fmt.Sprintf("%05d", 1000+r.IntN(90000)), pick(r, "Köln", "Berlin", "Jena"), pick(r, "Santander", "Barclays"), fmt.Sprintf("V%06d", i), fmt.Sprintf("%d.%03d,%02d €", 1+r.IntN(30), r.IntN(1000), r.IntN(100)),
				fmt.Sprintf("%d,%d%%", 1+r.IntN(9), r.IntN(10)), fmt.Sprint(12 * (1 + r.IntN(8))), pick(r, "Ja", "Nein"), note}
		},
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
		answers: [][2]string{{"phone:", "    phone: {column: Customer mobile, type: Phone, region: GB}"}},
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
	var b *mapping.Binding
	m, found := mapping.Parse("mapping.yaml", yaml)
	if len(found) == 0 {
		b, found = mapping.Bind(m, &cell.Sheet{Name: "Leads", HeaderRow: 1, Header: s.headers}, service, "2026-11-20")
	}
	if len(found) > 0 {
		t.Fatalf("check finds\n%v\n%s", found, yaml)
	}
	rows := map[mapping.Identity][]mapping.ConvertedRow{}
	for _, record := range s.records() {
		if row := b.Convert(record); row.Skipped == "" {
			rows[row.Client] = append(rows[row.Client], row)
		}
	}
	for _, leads := range rows {
		for _, p := range b.Plan(1, leads).Problems {
			wrong = append(wrong, fmt.Sprintf("%v %s: %s [%s]", p.Where, p.Code, p.Message, p.Seen))
		}
	}
	return len(rows), wrong
}

// TestProposalOfSheets compares the proposals for sheets as people send them with what a person approved of. Each passes a check; when the
// questions are answered, every row that is not meant to be bad can be imported. Proposals that are comments can be used, too.
func TestProposalOfSheets(t *testing.T) {
	t.Parallel()
	for _, s := range leadSheets {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			service := sandboxService(t)
			made := proposeFor(t, Request{Name: s.name, API: s.api, Sources: []string{s.name + ".xlsx"}, Service: service}, s.headers, s.records())
			yaml := made.YAML()
			golden(t, "testdata/"+s.name+".yaml", yaml)
			takes(t, made, s.headers, append(answers(made), string(yaml))...)
			without := proposeFor(t, Request{Name: s.name, API: s.api, Service: untyped(service)}, s.headers, s.records())
			takes(t, without, s.headers, answers(without)...)
			clients, wrong := s.dryRun(t, s.answered(t, yaml), sandboxService(t))
			if len(wrong) != s.bad || clients == 0 {
				t.Errorf("%d clients, and wrong is, want %d:\n%s", clients, s.bad, strings.Join(wrong, "\n"))
			}
		})
	}
}

// untyped takes the data types out of a service's answer.
func untyped(s *mapping.Service) *mapping.Service {
	for _, t := range s.Templates {
		for i := range t.Attributes {
			t.Attributes[i].Type, t.Attributes[i].Options = convert.Type(""), nil
		}
	}
	return s
}
