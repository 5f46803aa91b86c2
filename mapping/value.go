package mapping

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// boundValue is a ValueRule with its columns found and its type settled.
type boundValue struct {
	label    string // the name of the attribute or field
	columns  []int
	names    []string          // of the columns, see Source
	text     templateText      // set for a text with places
	places   map[string]int    // the columns of the text's places
	glue     *string           // set for texts that are joined: what stands between them
	table    map[string]string // replaces the texts of the cells that fill places; nil replaces none
	expr     *expr.Expression  // set for an expression
	constant *cell.Value       // set for a constant
	conv     convert.Converter
	required bool
	fallback *cell.Value // replaces an empty cell
	foldCase bool        // rows agree on it in any case: e-mail addresses and key columns
	target   int         // its number among the Targets, from 1
	number   int         // its number among the texts of several parts, from 1; 0 for none
	untyped  int         // its number among the attributes of unknown type, from 1; 0 for none
}

// fieldValue is one value of one row, with the cell that it came from. The
// zero Value means that the cell is empty, or that it was refused and
// reported.
type fieldValue struct {
	value   cell.Value
	source  Source
	refused *problem.Problem // why the cell was refused; nil when it was not
	doubt   *problem.Problem // a warning of the value; nil for none
	target  int              // of boundValue
	e164    string           // the E.164 form of a Phone that is sent in another format; else ""
}

// read converts the row's cells. It does not report a required cell that is
// empty, because another row of the client may fill it. texts is room for one
// text of each column.
func (v *boundValue) read(sheet *cell.Sheet, r cell.Record, texts []string) (fieldValue, *problem.Problem) {
	if v.constant != nil {
		return fieldValue{value: *v.constant}, nil
	}
	src := Source{Row: cell.RowOf(r.Table, r.Row), Columns: v.columns, Names: v.names, Texts: texts, FoldCase: v.foldCase}
	for i, c := range v.columns {
		src.Texts[i] = r.Cell(c).Shown
	}
	in, at, refusal := v.cell(r)
	if refusal == nil && in.IsEmpty() {
		return fieldValue{source: src}, nil
	}
	var value cell.Value
	if refusal == nil {
		value, refusal = v.conv.Convert(in)
	}
	if refusal != nil {
		p := refusal.Problem(sheet.At(at, r.Row), sheet.ColumnLabel(at), r.Cell(at))
		return fieldValue{source: src, refused: &p}, &p
	}
	return fieldValue{value: value, source: src, e164: v.e164(in)}, nil
}

// e164 returns a cell's phone number in E.164 if the value is sent in another
// format; else "".
func (v *boundValue) e164(c cell.Cell) string {
	plain := v.conv.E164()
	if plain == nil {
		return ""
	}
	number, _ := plain.Convert(c) // the cell has been converted as a phone number already
	return number.Literal
}

// cell returns the cell to convert, and the column to name when it is refused.
// For a text or an expression it is made from several cells.
func (v *boundValue) cell(r cell.Record) (cell.Cell, int, *convert.CellError) {
	switch {
	case v.expr != nil:
		in, refusal := v.expr.Value(r)
		return in, first(v.columns), refusal
	case v.isComposed():
		return v.compose(r)
	}
	for _, c := range v.columns {
		if in := r.Cell(c); !in.IsEmpty() {
			return in, c, nil
		}
	}
	return cell.Cell{}, first(v.columns), nil
}

func first(columns []int) int {
	if len(columns) == 0 {
		return 0
	}
	return columns[0]
}

// isOneCell reports whether the value is that of one cell: of its column, or of the first
// of several that is filled.
func (v *boundValue) isOneCell() bool {
	return v.constant == nil && !v.isComposed() && v.expr == nil
}

// isComposed reports whether the value is made from the texts of several cells.
func (v *boundValue) isComposed() bool { return v.text != nil || v.glue != nil }

// sameReading reports whether two values are read from the same cells in the
// same way, as a look-up and a field mostly are. Reading a phone number twice
// is what takes the most time.
func (v *boundValue) sameReading(other *boundValue) bool {
	return v.isOneCell() && other.isOneCell() && slices.Equal(v.columns, other.columns) && v.foldCase == other.foldCase &&
		reflect.DeepEqual(v.conv, other.conv)
}

var asText = convert.Converter{Type: convert.Text}

// compose fills the places of a text from a row's cells, or joins their texts. A
// cell that cannot be read as text is refused with its column.
func (v *boundValue) compose(r cell.Record) (cell.Cell, int, *convert.CellError) {
	var refusal *convert.CellError
	at := first(v.columns)
	read := func(c int) string {
		if r.Cell(c).IsEmpty() {
			return ""
		}
		value, no := asText.Convert(r.Cell(c))
		if no != nil && refusal == nil {
			refusal, at = no, c
		}
		if to, ok := v.table[value.Literal]; ok {
			return to
		}
		return value.Literal
	}
	s := ""
	if v.glue != nil {
		var filled []string
		for _, c := range v.columns {
			if part := strings.TrimSpace(read(c)); part != "" {
				filled = append(filled, part)
			}
		}
		s = strings.Join(filled, *v.glue)
	} else {
		s = v.text.fill(func(name string) string {
			c, ok := v.places[name]
			if !ok {
				return ""
			}
			return read(c)
		})
	}
	if s == "" {
		return cell.Cell{}, at, refusal
	}
	return cell.Cell{Kind: cell.Text, Raw: s, Shown: s}, at, refusal
}

// value binds a rule. aliases are the columns of a claims entry; nil for none.
// A typ of "" is unknown: the options are checked as far as they go together,
// and the value must not be used.
func (b *binder) value(label string, rule *ValueRule, typ convert.Type, aliases map[string]yamltree.Scalar) boundValue {
	known := typ != ""
	if !known {
		typ = rule.likelyType()
	}
	v := boundValue{label: label, required: rule.Required, conv: b.conversion(rule, typ)}
	v.foldCase = typ == convert.Email
	wrong := v.conv.Check()
	if wrong != nil {
		at := rule.optionsAt()
		if i := v.conv.WrongFormat(); i > 0 {
			at = rule.OtherFormats[i-1].At
		}
		b.wrongAt(at, "wrong-option", "“%s”: %s", label, strings.Join(wrong, "; "))
	}
	if wrong != nil || !known {
		v.conv = convert.Converter{Type: convert.Text}
	}
	switch {
	case rule.hasConstant:
		v.constant = b.constant(label, rule.Constant, v.conv)
	case rule.Text.Text != "":
		v.text, v.places = b.text(rule.Text, aliases)
		v.columns, v.names = placeColumns(v.text, v.places)
	case len(rule.Join) > 0:
		v.columns, v.names = b.columns(rule.Join, aliases), foldHeaders(scalarTexts(rule.Join)...)
		if v.glue = rule.With; v.glue == nil {
			usual := ", "
			v.glue = &usual
		}
	case rule.Expr.Text != "":
		v.expr = b.expression(rule.Expr, aliases, false)
		columns, names := v.expr.Columns()
		v.columns, v.names = columns, foldHeaders(names...)
	case len(rule.FirstOf) > 0:
		v.columns, v.names = b.columns(rule.FirstOf, aliases), foldHeaders(scalarTexts(rule.FirstOf)...)
	case rule.Column.Text != "":
		v.columns, v.names = b.columns([]yamltree.Scalar{rule.Column}, aliases), foldHeaders(rule.Column.Text)
	}
	if rule.Default != nil {
		v.fallback = b.constant(label, *rule.Default, v.conv)
	}
	for _, c := range v.columns {
		v.foldCase = v.foldCase || b.keyColumns[c]
	}
	return v
}

// placeColumns returns the columns of a text's places, in order, and their
// names.
func placeColumns(t templateText, places map[string]int) (columns []int, names []string) {
	for _, name := range t.names() {
		if c, ok := places[name]; ok {
			columns, names = append(columns, c), append(names, convert.FoldHeader(name))
		}
	}
	return columns, names
}

// optionsAt returns the place to show for an option that makes no sense.
func (v *ValueRule) optionsAt() yamltree.Place {
	for _, w := range []yamltree.Scalar{v.Format, v.Region, v.Output, v.Type} { // lists have no place of their own
		if w.Text != "" {
			return w.At
		}
	}
	return v.At
}

// conversion returns the converter of a rule, with the defaults of its
// options.
func (b *binder) conversion(rule *ValueRule, typ convert.Type) convert.Converter {
	c := convert.Converter{
		Type: typ, Format: rule.Format.Text, OtherFormats: scalarTexts(rule.OtherFormats), Region: strings.ToUpper(rule.Region.Text),
		Zone: b.zone, Ambiguous: b.mapping.Sheet.AmbiguousTimes, Numbers: b.mapping.Sheet.Numbers, Percent: rule.Percent,
		Years: rule.Years, Today: b.runDate, Checked: rule.Checked, Unchecked: rule.Unchecked,
		Values: rule.Values, Else: rule.Else, MaxLength: rule.MaxLength,
	}
	if rule.Output.Text == "date" {
		c.Output = convert.AsDate
	}
	if b.sheet != nil {
		c.Date1904 = b.sheet.Date1904
	}
	if typ == convert.DateTime && b.zone == nil && rule.Format.Text != "" {
		b.wrongAt(rule.Format.At, "no-timezone", "“%s” has no timezone, and neither does the mapping", rule.Format.Text).
			Hint = "add sheet: {timezone: Europe/London}, or wherever the times were written down"
		c.Zone = time.UTC // reported once here, not for every row
	}
	return c
}

// constant converts a constant of the mapping: numbers with a decimal point
// and dates in ISO 8601, whatever the sheet uses.
func (b *binder) constant(label string, w yamltree.Scalar, conv convert.Converter) *cell.Value {
	conv.Numbers, conv.Percent, conv.Values, conv.Else = convert.Numbers{Decimal: "."}, false, nil, nil
	if conv.Type == convert.Date || conv.Type == convert.DateTime {
		conv.Format, conv.OtherFormats = "", nil
	}
	value, refusal := conv.Convert(cell.Cell{Kind: cell.Text, Raw: w.Text, Shown: w.Text})
	if refusal != nil {
		hint := refusal.Hint
		switch conv.Type {
		case convert.Date, convert.DateTime, convert.Number, convert.Currency: // the usual hint is about the sheet
			hint = "in a mapping dates are written like 1980-05-01 and numbers like 1234.5, whatever the sheet does"
		}
		b.wrongAt(w.At, refusal.Code, "the constant for “%s” %s", label, refusal.Message).Hint = hint
		return &cell.Value{}
	}
	return &value
}

// columns finds columns by name and reports those that are missing.
func (b *binder) columns(names []yamltree.Scalar, aliases map[string]yamltree.Scalar) []int {
	var found []int
	for _, w := range names {
		if i, ok := b.column(w, aliases); ok {
			found = append(found, i)
		}
	}
	return found
}

func (b *binder) column(w yamltree.Scalar, aliases map[string]yamltree.Scalar) (int, bool) {
	if alias, ok := aliases[w.Text]; ok {
		b.usedAliases[alias.At] = true
		w = alias
	} else if alias, at := b.bypassed(w.Text); alias != "" {
		b.wrongAt(w.At, "one-claim-column", "“%s” is the column of one claims entry (line %d), and this activity is on %d entries: every claim would get it",
			w.Text, at.Line, len(b.entries)).Hint = "write “" + alias + "”, which each entry's columns give a column of its own"
		return 0, false
	}
	if w.Text == "" {
		return 0, false
	}
	b.named[convert.FoldHeader(w.Text)] = w.Text
	if b.index == nil {
		return 0, false
	}
	i, missing := b.index.find(w.Text)
	if missing != nil {
		if slices.Contains([]string{"today", "now", "date", "run date", "run.date", "run_date"}, convert.FoldHeader(w.Text)) {
			missing.Hint = "the date of the run is {run.date}, in the two texts of workflow alone"
		}
		if !b.aliasElsewhere(w) {
			b.wrongAt(w.At, missing.Code, "%s", missing.Message).Hint = missing.Hint
		}
		return 0, false
	}
	b.used[i] = true
	return i, true
}

// bypassed returns the alias of a column that only some of the claims entries have that
// the activity being bound is on, and where it is given; "" for other columns.
func (b *binder) bypassed(column string) (alias string, at yamltree.Place) {
	has := 0
	for _, entry := range b.entries {
		for name, target := range b.mapping.Claims[entry].Columns {
			if convert.FoldHeader(target.Text) == convert.FoldHeader(column) {
				has++
				alias, at = name, target.At
				break
			}
		}
	}
	if has == len(b.entries) {
		return "", at
	}
	return alias, at
}

// aliasElsewhere reports a name that the sheet does not have and that another claims
// entry, or the claims, have as an alias.
func (b *binder) aliasElsewhere(w yamltree.Scalar) bool {
	for _, c := range b.mapping.Claims {
		if _, ok := c.Columns[w.Text]; !ok {
			continue
		}
		if len(b.entries) > 0 {
			b.wrongAt(w.At, "unknown-column", "“%s” is a name of some of the claims that this activity is on, and another entry has none of that name", w.Text).
				Hint = "add “" + w.Text + "” to the columns of each of these entries"
			return true
		}
		b.wrongAt(w.At, "unknown-column", "“%s” is a name of claims “%s”, for that entry and the activities on it", w.Text, c.ID.Text).
			Hint = "add on: " + c.ID.Text + " to the activity, or write the column of the sheet"
		return true
	}
	return false
}

// text parses a text with places and finds their columns.
func (b *binder) text(w yamltree.Scalar, aliases map[string]yamltree.Scalar) (templateText, map[string]int) {
	t, err := parseTemplateText(w.Text)
	if err != nil {
		return nil, nil // reported by Parse
	}
	return t, b.places(t, w.At, aliases)
}

// places returns the columns that a text's places name.
func (b *binder) places(t templateText, at yamltree.Place, aliases map[string]yamltree.Scalar) map[string]int {
	places := map[string]int{}
	for _, name := range t.names() {
		if i, ok := b.column(yamltree.Scalar{Text: name, At: at}, aliases); ok {
			places[name] = i
		}
	}
	return places
}

// condition compiles a when; nil for an empty one.
func (b *binder) condition(w yamltree.Scalar, aliases map[string]yamltree.Scalar) *expr.Expression {
	if w.Text == "" {
		return nil
	}
	return b.expression(w, aliases, true)
}

// expression compiles an expression and finds its columns. It is never nil; after
// a problem it must not be run.
func (b *binder) expression(w yamltree.Scalar, aliases map[string]yamltree.Scalar, isCondition bool) *expr.Expression {
	e, problems := expr.Compile(w.Text, expr.Options{
		Condition: isCondition, Line: w.At.Line, Cells: b.conversion(&ValueRule{}, convert.Text),
		Column: func(name string, offset int) (int, bool) {
			return b.column(yamltree.Scalar{Text: name, At: inside(w, offset)}, aliases)
		},
	})
	for _, p := range problems {
		b.wrongAt(inside(w, p.Offset), "expression", "%s", p.Message).Hint = p.Hint
	}
	return e
}

// inside returns the place of a character of an expression. YAML folds and
// indents expressions of several lines, so only their beginning is known.
func inside(w yamltree.Scalar, offset int) yamltree.Place {
	if strings.Contains(w.Text, "\n") {
		return w.At
	}
	return yamltree.Place{Line: w.At.Line, Column: w.At.Column + offset}
}
