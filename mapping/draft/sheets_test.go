package draft

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// leadSheet is a sheet as people send it, in testdata/sheets: a cell that begins with # is a number, and one with @ a date.
type leadSheet struct {
	name, api string
	// answers replace lines with DECIDE: the beginning of the line, and what a person
	// writes instead. Other questions are answered with yes.
	answers [][2]string
	bad     int // rows that were made to be refused
}

// day is a date cell.
type day time.Time

func mailOf(first string, i int) string {
	return fmt.Sprintf("%s.%d@example.com", strings.ToLower(first), i)
}

var leadSheets = []leadSheet{
	{name: "german-csv", api: "v2"},
	{name: "wide", api: "v2"},
	{name: "messy-csv", api: "v2", bad: 1, answers: [][2]string{
		{"Date of birth:", `      Date of birth: {column: "Date Of  Birth", type: Date, format: d/m/yyyy}`},
		{"phone:", `    phone: {column: "Tel.  no.", type: Phone, region: GB}`}}},
	{name: "car-finance", api: "v1", answers: [][2]string{{"# Bought new:", `      Bought new: {column: "New?", type: Checkbox, checked: ["N"], unchecked: [U]}`}}},
	{name: "several-claims", api: "v2", answers: [][2]string{{"phone:", "    phone: {column: Customer mobile, type: Phone, region: GB}"}}},
	{name: "couples", api: "v2"},
}

// read returns the sheet's headers and rows.
func (s leadSheet) read(t *testing.T) (headers []string, records []cell.Record) {
	t.Helper()
	text, err := os.ReadFile("testdata/sheets/" + s.name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines[1:] {
		var row []any
		for _, text := range line {
			number, isNumber := strings.CutPrefix(text, "#")
			on, isDate := strings.CutPrefix(text, "@")
			switch {
			case text == "":
				row = append(row, nil)
			case isNumber:
				row = append(row, cell.Cell{Kind: cell.Number, Raw: number, Shown: number})
			case isDate:
				at, err := time.Parse(time.DateOnly, on)
				if err != nil {
					t.Fatal(err)
				}
				row = append(row, day(at))
			default:
				row = append(row, text)
			}
		}
		records = append(records, cell.Record{Row: i + 2, Cells: cellsOf(row)})
	}
	return lines[0], records
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
	headers, records := s.read(t)
	var b *mapping.Binding
	m, found := mapping.Parse("mapping.yaml", yaml)
	if len(found) == 0 {
		b, found = mapping.Bind(m, &cell.Sheet{Name: "Leads", HeaderRow: 1, Header: headers}, service, "2026-11-20")
	}
	if len(found) > 0 {
		t.Fatalf("check finds\n%v\n%s", found, yaml)
	}
	rows := map[mapping.Identity][]mapping.ConvertedRow{}
	for _, record := range records {
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
			headers, records := s.read(t)
			made := proposeFor(t, Request{Name: s.name, API: s.api, Sources: []string{s.name + ".xlsx"}, Service: service}, headers, records)
			yaml := made.YAML()
			golden(t, "testdata/"+s.name+".yaml", yaml)
			takes(t, made, headers, append(answers(made), string(yaml))...)
			without := proposeFor(t, Request{Name: s.name, API: s.api, Service: untyped(service)}, headers, records)
			takes(t, without, headers, answers(without)...)
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
