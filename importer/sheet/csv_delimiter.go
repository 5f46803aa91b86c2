package sheet

import (
	"errors"
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// delimiters are what may stand between the fields of a CSV file.
var delimiters = []rune{',', ';', '\t'}

func delimiterName(comma rune) string {
	if comma == '\t' {
		return "a tab"
	}
	return "“" + string(comma) + "”"
}

// cut is a header, cut at one of the delimiters.
type cut struct {
	comma  rune
	fields []string
	err    error
}

// delimit settles the delimiter and gives the header's fields: those of the
// delimiter declared, else of the only one that the header can be cut at.
func (f *csvFile) delimit(declared string) ([]string, error) {
	if declared != "" {
		f.comma = []rune(declared)[0]
		return f.header()
	}
	var cuts, apart []cut
	for _, comma := range delimiters {
		f.comma = comma
		fields, err := f.header()
		c := cut{comma, fields, err}
		cuts = append(cuts, c)
		if p, ok := errors.AsType[problem.Problem](err); ok && (p.Code == "no-header" || p.Code == "empty-sheet") {
			return nil, err // nothing but delimiters is no header of one column
		}
		if err == nil && len(fields) > 1 {
			apart = append(apart, c)
		}
	}
	switch whole := slices.IndexFunc(cuts, func(c cut) bool { return c.err == nil }); {
	case len(apart) > 1:
		return nil, f.ambiguous(apart)
	case len(apart) == 1:
		f.comma = apart[0].comma
		return apart[0].fields, nil
	case whole < 0:
		return nil, cuts[0].err
	default: // one column
		f.comma = cuts[whole].comma
		return cuts[whole].fields, nil
	}
}

func (f *csvFile) ambiguous(ways []cut) error {
	var names, keys []string
	for _, c := range ways {
		names = append(names, delimiterName(c.comma))
		key := `"` + string(c.comma) + `"`
		if c.comma == '\t' {
			key = "tab"
		}
		keys = append(keys, "{delimiter: "+key+"}")
	}
	return problem.At(f.sheet.AtRow(f.sheet.HeaderRow), "unknown-delimiter",
		"the fields of the header may be parted by %s; expected one of them only", strings.Join(names, " or by ")).
		Hinted("say in the mapping which it is: sheet: %s", strings.Join(keys, " or sheet: "))
}

// header gives the fields of the header row.
func (f *csvFile) header() ([]string, error) {
	any := false
	for row, err := range f.rows() {
		if err != nil {
			return nil, err
		}
		any = any || row.filled() > 0
		if row.number == f.sheet.HeaderRow && strings.TrimSpace(strings.Join(row.fields, "")) != "" {
			return slices.Clone(row.fields), nil
		}
		if row.number >= f.sheet.HeaderRow && any {
			break
		}
	}
	if !any {
		return nil, problem.New("empty-sheet", "the file has no rows; expected a header in row %d", f.sheet.HeaderRow).
			Hinted("export the sheet again")
	}
	return nil, problem.New("no-header", "the file has no header in row %d", f.sheet.HeaderRow).
		Hinted("set header_row in the mapping to the row that holds the column names")
}
