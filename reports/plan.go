package reports

import (
	"slices"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// planSheet lists the calls that a run would make, client by client. It continues in "Plan 2" and so on when it is full.
const planSheet = "Plan"

// writePlan writes one line for each client that a run would send something for.
func writePlan(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{
		Name:    planSheet,
		Headers: []string{ClientKeyHeader, "In this order", "Clients", "Claims", "Activities", "Links", "Calls"},
		Widths:  []float64{34, 110, 10, 10, 12, 8, 8},
	})
	var client result.Step
	var calls [4]int   // of the client, by kind
	var words []string // the same calls, in their order
	write := func() {
		if len(words) > 0 {
			t.Row(xlsx.Style{}, client.ClientKey, strings.Join(words, ", "), calls[0], calls[1], calls[2], calls[3], len(words))
		}
		calls, words = [4]int{}, words[:0]
	}
	for s, err := range b.Steps {
		if err != nil {
			return err
		}
		if s.State != string(result.Planned) {
			continue // done before: nothing would be sent
		}
		if s.Client != client.Client || s.ClientKey != client.ClientKey {
			write()
		}
		client, words = s, append(words, inWords(s))
		if kind := slices.Index([]string{"client", "claim", "activity", "link"}, s.Kind); kind >= 0 {
			calls[kind]++
		}
	}
	write()
	return t.Close()
}

// inWords describes a call, with the claim that it belongs to.
func inWords(s result.Step) string {
	_, on, _ := strings.Cut(s.Step, "@")
	switch s.Kind {
	case "claim":
		return "claim " + strings.TrimPrefix(s.Step, "claim/")
	case "activity":
		if on == "" || on == "client" {
			return "“" + s.Title + "”"
		}
		return "“" + s.Title + "” on claim " + on
	case "link":
		return "magic link"
	}
	return s.Kind
}

// valuesSheet shows what a run would send for the first clients, value by value.
const valuesSheet = "Values"

// Value is a line of the sheet Values: one value of a call, and the cells that it is made of.
type Value struct {
	Call  result.Step
	Name  string // of the field or attribute
	Sent  string
	Cells string // "" for a constant of the mapping
}

// writeValues writes one line for each of the values; without any it writes no sheet.
func writeValues(w *xlsx.Writer, b Workbook) error {
	if len(b.Values) == 0 {
		return nil
	}
	t := w.NewSheet(xlsx.Layout{
		Name:    valuesSheet,
		Headers: []string{ClientKeyHeader, "Call", "Field or attribute", "Value as sent", "From"},
		Widths:  []float64{34, 44, 34, 44, 20},
	})
	for _, v := range b.Values {
		t.Row(xlsx.Style{}, v.Call.ClientKey, inWords(v.Call), v.Name, v.Sent, v.Cells)
	}
	return t.Close()
}
