// Package draft makes a first mapping for the init command, from the headers of a
// sheet and the templates of a service: YAML for a person to finish, in which
// every guess is marked. It also guesses which row of a sheet holds the headers.
package draft

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Draft is what a first mapping is made from.
type Draft struct {
	Name    string   // the mapping's name
	API     string   // v1 or v2
	Sources []string // the sheets' names, for the comment at the top
	Headers []string // the headers that all sheets have
	// HeaderRow is the row of the headers, 1-based. 0 means the first row,
	// which a mapping need not give.
	HeaderRow int
	Service   *mapping.Service // nil when no environment was asked; then there are no activities
}

// decide marks the lines that are guesses.
const decide = "# DECIDE: "

// YAML returns a mapping without problems, for a person to finish: every guess
// is marked. Equal drafts give equal bytes.
func (d Draft) YAML() []byte {
	w := &writer{draft: d, columns: usableColumns(d.Headers), used: map[string]bool{}}
	w.line("# A first mapping for %s, made by claimsheet init.", oneLine(strings.Join(d.Sources, ", ")))
	w.line("# Names that say the same were put together; lines with DECIDE are guesses. Try it with claimsheet run --dry-run.")
	switch d.Name = oneLine(d.Name); d.Name {
	case "":
		d.Name = "leads"
	case mapping.EmailSpace, mapping.PhoneSpace: // the names of key spaces
		d.Name += " leads"
	}
	w.draft.Name = d.Name
	w.line("name: %s   %swhat this campaign is called; it must not change once it has run", yamltree.Quote(d.Name), decide)
	w.line("api: %s", d.API)
	w.line("")
	w.sheet()
	w.client()
	if d.API == "v2" {
		w.claims()
	}
	w.activities()
	w.rest()
	return []byte(w.String())
}

// Problems returns what claimsheet check would find wrong with the draft and a
// sheet: nothing, unless the sheet itself cannot be imported.
func (d Draft) Problems(sheet cell.Sheet) problem.List {
	m, found := mapping.Parse("the mapping", d.YAML())
	if len(found) == 0 {
		_, found = mapping.Bind(m, &sheet, d.Service, "2006-01-02")
	}
	return found
}

// writer writes the lines of a draft.
type writer struct {
	strings.Builder
	draft   Draft
	columns []string
	used    map[string]bool
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// sheet writes what is known of the sheet's layout.
func (w *writer) sheet() {
	var lines []string
	if row := w.draft.HeaderRow; row != 0 {
		lines = append(lines, fmt.Sprintf("  header_row: %d   %sthe row that holds the names of the columns", row, decide))
	}
	if w.hasType(convert.DateTime) {
		lines = append(lines, "  timezone: UTC   "+decide+"where the sheet's times were written down, e.g. Europe/London")
	}
	if len(lines) > 0 {
		w.line("sheet:\n%s\n", strings.Join(lines, "\n"))
	}
}

// take returns a column's name in YAML and notes the column as used.
func (w *writer) take(column string) string {
	w.used[column] = true
	return yamltree.Quote(column)
}

// client writes the client section. The best key is the e-mail address, then
// the phone number, because the service can be asked for these.
func (w *writer) client() {
	found := map[string]string{}
	for _, role := range clientRoles {
		if column, ok := role.find(w.columns); ok {
			found[role.field] = column
		}
	}
	email, phone := found["email"], found["phone"]
	w.line("client:")
	switch {
	case email != "":
		w.line("  key: %s   %sthe column that identifies a client", w.take(email), decide)
		w.line("  existing: reuse   %sreuse, skip, fail or create a client that the service knows", decide)
		w.line("  existing_activities: send   %ssend or skip the activities on a client who was found, not created", decide)
		w.line("  lookup: {email: %s}", yamltree.Quote(email))
	case phone != "":
		w.line("  key: %s   %sthe column that identifies a client", w.take(phone), decide)
		w.line("  existing: reuse   %sreuse, skip, fail or create a client that the service knows", decide)
		w.line("  existing_activities: send   %ssend or skip the activities on a client who was found, not created", decide)
		w.line("  lookup: {phone: {column: %s, type: Phone}}   %sadd region: GB if the numbers have no country code", yamltree.Quote(phone), decide)
	default:
		w.line("  key: %s   %sthe column that identifies a client", w.take(w.likelyKey()), decide)
		w.line("  existing: create   %sno column holds an e-mail address or phone number to look clients up by", decide)
	}
	w.line("  fields:   %sthe names on the left are the service's; its operator knows them", decide)
	for _, role := range clientRoles {
		column, ok := found[role.field]
		switch {
		case ok && role.typ != "":
			w.line("    %s: {column: %s, type: %s}", role.field, w.take(column), role.typ)
		case ok:
			w.line("    %s: %s", role.field, w.take(column))
		}
	}
	if len(found) == 0 {
		w.line("    reference: %s", yamltree.Quote(w.likelyKey()))
	}
}

// likelyKey returns the column that most likely holds a number that identifies
// rows.
func (w *writer) likelyKey() string {
	if column, ok := numberRole.find(w.columns); ok {
		return column
	}
	return w.columns[0]
}

// claims writes a claims section as a comment, because a header does not show
// whether each row is a claim.
func (w *writer) claims() {
	column, ok := numberRole.find(w.columns)
	if !ok {
		column = w.columns[0]
	}
	name := strings.NewReplacer("{", "{{", "}", "}}").Replace(column)
	w.line("")
	w.line("# %sif each row is a claim of its client, take the # away", strings.TrimPrefix(decide, "# "))
	w.line("# claims:\n#   - id: claim\n#     key: %s\n#     name: %s", yamltree.Quote(column), yamltree.Quote("Claim {"+name+"}"))
}

// rest lists the columns that nothing uses.
func (w *writer) rest() {
	var unused []string
	for _, c := range w.columns {
		if !w.used[c] {
			unused = append(unused, oneLine(c))
		}
	}
	if len(unused) > 0 {
		w.line("\n# Columns that nothing uses yet: %s", strings.Join(unused, ", "))
	}
}

// usableColumns returns the headers that a mapping can name: not empty, not
// repeated, not a column of a results workbook.
func usableColumns(headers []string) []string {
	count := map[string]int{}
	for _, h := range headers {
		count[convert.FoldHeader(h)]++
	}
	return slices.DeleteFunc(slices.Clone(headers), func(h string) bool {
		return convert.FoldHeader(h) == "" || count[convert.FoldHeader(h)] > 1 || mapping.ResultColumn(h, false) != ""
	})
}

// Usable reports whether the sheets have any column that a mapping can name.
func (d Draft) Usable() bool { return len(usableColumns(d.Headers)) > 0 }

// oneLine makes a name from a file safe for a comment: one line, without
// invisible characters.
func oneLine(s string) string {
	seen := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return strings.Join(strings.Fields(strings.Map(seen, problem.OneLine(s))), " ")
}
