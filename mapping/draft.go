package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// Draft is what a first mapping is made from.
type Draft struct {
	Name    string   // of the mapping
	API     string   // v1 or v2
	Sources []string // the sheets' names, for the comment at the top
	Headers []string // those that all sheets have
	// HeaderRow is the row of the headers, 1-based. 0 is the first row, of which
	// the mapping need not speak.
	HeaderRow int
	Service   *Service // nil when no environment was asked: there are then no activities
}

// decide marks the lines that are guesses.
const decide = "# DECIDE: "

// YAML is a mapping that Parse and Bind find nothing wrong with, for a person to
// finish: every guess is marked. Equal drafts give equal bytes.
func (d Draft) YAML() []byte {
	w := &draftWriter{draft: d, columns: usableColumns(d.Headers), used: map[string]bool{}}
	w.line("# A first mapping for %s, made by claimsheet init.", oneLine(strings.Join(d.Sources, ", ")))
	w.line("# Names that say the same were put together; lines with DECIDE are guesses. Try it with claimsheet run --dry-run.")
	switch d.Name = oneLine(d.Name); d.Name {
	case "":
		d.Name = "leads"
	case emailSpace, phoneSpace: // the names of key spaces
		d.Name += " leads"
	}
	w.draft.Name = d.Name
	w.line("name: %s   %swhat this campaign is called; it must not change once it has run", quote(d.Name), decide)
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

// Wrong is what claimsheet check would find wrong with the draft beside a sheet:
// nothing, unless the sheet itself cannot be imported.
func (d Draft) Wrong(sheet cell.Sheet) problem.List {
	m, found := Parse("the mapping", d.YAML())
	if len(found) == 0 {
		_, found = Bind(m, &sheet, d.Service, "2006-01-02")
	}
	return found
}

// draftWriter writes the draft's lines.
type draftWriter struct {
	strings.Builder
	draft   Draft
	columns []string
	used    map[string]bool
}

func (w *draftWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// sheet writes what the draft has found out of the sheet's layout.
func (w *draftWriter) sheet() {
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

// take is the column, noted as used.
func (w *draftWriter) take(column string) string {
	w.used[column] = true
	return quote(column)
}

// client writes the client section. The e-mail address is the best key there
// is, because the service can be asked for it; then the phone number.
func (w *draftWriter) client() {
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
		w.line("  key: %s   %sthe column that tells one client from another", w.take(email), decide)
		w.line("  existing: reuse   %sreuse, skip, fail or create a client whom the service knows", decide)
		w.line("  lookup: {email: %s}", quote(email))
	case phone != "":
		w.line("  key: %s   %sthe column that tells one client from another", w.take(phone), decide)
		w.line("  existing: reuse   %sreuse, skip, fail or create a client whom the service knows", decide)
		w.line("  lookup: {phone: {column: %s, type: Phone}}   %sadd region: GB if the numbers have no country code", quote(phone), decide)
	default:
		w.line("  key: %s   %sthe column that tells one client from another", w.take(w.likelyKey()), decide)
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
		w.line("    reference: %s", quote(w.likelyKey()))
	}
}

// likelyKey is the column that looks most like a number that tells rows apart.
func (w *draftWriter) likelyKey() string {
	if column, ok := numberRole.find(w.columns); ok {
		return column
	}
	return w.columns[0]
}

// claims writes a claims section to be switched on: whether a row is a claim is
// not to be seen in a header.
func (w *draftWriter) claims() {
	column, ok := numberRole.find(w.columns)
	if !ok {
		column = w.columns[0]
	}
	name := strings.NewReplacer("{", "{{", "}", "}}").Replace(column)
	w.line("")
	w.line("# %sif each row is a claim of its client, take the # away", strings.TrimPrefix(decide, "# "))
	w.line("# claims:\n#   - id: claim\n#     key: %s\n#     name: %s", quote(column), quote("Claim {"+name+"}"))
}

// rest names the columns that nothing uses.
func (w *draftWriter) rest() {
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

// usableColumns are the headers that a mapping can name: not empty, not twice,
// not one of ours.
func usableColumns(headers []string) []string {
	count := map[string]int{}
	for _, h := range headers {
		count[convert.FoldHeader(h)]++
	}
	return slices.DeleteFunc(slices.Clone(headers), func(h string) bool {
		return convert.FoldHeader(h) == "" || count[convert.FoldHeader(h)] > 1 || ResultColumn(h) != ""
	})
}

// Usable tells whether a sheet has any column that a mapping can name.
func (d Draft) Usable() bool { return len(usableColumns(d.Headers)) > 0 }

// bareWord is a text that YAML takes for nothing but a text, also within braces.
var bareWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

// quote is a text as YAML has it. What cannot be seen, or is no part of YAML, is
// written by its number.
func quote(s string) string {
	if bareWord.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// oneLine keeps a name from a file to the line of its comment, without what
// cannot be seen.
func oneLine(s string) string {
	seen := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return strings.Join(strings.Fields(strings.Map(seen, problem.OneLine(s))), " ")
}
