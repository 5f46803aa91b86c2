package mapping

import (
	"cmp"
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
	glue     *string           // set for texts that are joined: what stands between them
	table    map[string]string // replaces the texts of the cells that fill places; nil replaces none
	expr     *expr.Expression  // set for an expression
	constant *cell.Value       // set for a constant
	conv     convert.Converter
	e164     *convert.Converter // for a Phone that is sent in another format; else nil
	required bool
	fallback *cell.Value // replaces an empty cell
	foldCase bool        // rows agree on it in any case: e-mail addresses and key columns
	target   int         // its number among the Targets, from 1; 0 for none
	slot     int         // its place among the values of its part

	templateID string // of an attribute

	rule      *ValueRule // where cells are noted, see CellNote; else nil
	isUntyped bool       // an attribute of unknown type
}

// fieldValue is one value of one row. The zero Value means that the cells are empty, or
// that one was refused and reported.
type fieldValue struct {
	of      *boundValue
	row     cell.Row
	texts   []string // the cells of the columns as a person reads them
	value   cell.Value
	e164    string           // the E.164 form of a Phone that is sent in another format; else ""
	refused *problem.Problem // why the cell was refused; nil when it was not
}

// source returns where the value came from.
func (it *fieldValue) source() Source {
	if it.row == 0 {
		return Source{}
	}
	return Source{it.row, it.of.columns, it.of.names, it.texts, it.of.foldCase}
}

// From returns the column that a value came from: the first that is filled.
func (s Source) From() int {
	for i, text := range s.Texts {
		if convert.FoldSpace(text) != "" {
			return s.Columns[i]
		}
	}
	return first(s.Columns)
}

func first(columns []int) int {
	if len(columns) == 0 {
		return 0
	}
	return columns[0]
}

// convert sets the value of a cell that is not empty.
func (v *boundValue) convert(in cell.Cell, it *fieldValue) *convert.CellError {
	value, refusal := v.conv.Convert(in)
	if refusal != nil {
		return refusal
	}
	it.value = value
	if v.e164 != nil {
		number, _ := v.e164.Convert(in) // the cell has been converted as a phone number already
		it.e164 = number.Literal
	}
	return nil
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

// isOneCell reports whether the value is that of one cell: of its column, or of the first of several that is filled.
func (v *boundValue) isOneCell() bool {
	return v.constant == nil && !v.isComposed() && v.expr == nil
}

// isComposed reports whether the value is made from the texts of several cells.
func (v *boundValue) isComposed() bool { return v.text != nil || v.glue != nil }

// sameReading reports whether two values are read from the same cells in the
// same way, as a look-up and a field mostly are.
func (v *boundValue) sameReading(other *boundValue) bool {
	return v.isOneCell() && other.isOneCell() && slices.Equal(v.columns, other.columns) && reflect.DeepEqual(v.conv, other.conv)
}

var asText = convert.Converter{Type: convert.Text}

// compose fills the places of a text from a row's cells, or joins their texts. A
// cell that cannot be read as text is refused with its column.
func (v *boundValue) compose(r cell.Record) (cell.Cell, int, *convert.CellError) {
	texts := make([]string, len(v.columns))
	for i, c := range v.columns {
		value, refusal := asText.Convert(r.Cell(c))
		if refusal != nil {
			return cell.Cell{}, c, refusal
		}
		texts[i] = value.Literal
	}
	return v.composed(texts), first(v.columns), nil
}

// composed is the cell that the texts of the columns make.
func (v *boundValue) composed(texts []string) cell.Cell {
	for i := range texts {
		texts[i] = convert.Trim(texts[i])
		if instead, isListed := v.table[texts[i]]; isListed {
			texts[i] = instead
		}
	}
	s := ""
	if v.glue == nil {
		s = v.text.fill(texts)
	} else {
		s = strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), *v.glue)
	}
	return textCell(s)
}

// textCell is a cell that holds a text.
func textCell(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: s, Shown: s} }

// value binds a rule.
func (b *binder) value(label string, rule *ValueRule, typ convert.Type) boundValue {
	v := boundValue{label: label, required: rule.Required, conv: b.conversion(rule, typ)}
	v.foldCase = typ == convert.Email
	if wrong := v.conv.Check(); wrong != nil {
		b.wrongAt(rule.optionsAt(), "wrong-option", "“%s”: %s", label, strings.Join(wrong, "; "))
		v.conv = convert.Converter{Type: convert.Text}
	}
	v.e164 = v.conv.E164()
	columns := func(names ...yamltree.Scalar) {
		v.columns, v.names = b.columns(names), foldHeaders(scalarTexts(names)...)
	}
	switch {
	case rule.Constant.At.IsSet():
		v.constant = b.constant(label, rule.Constant, v.conv)
	case rule.Text.Text != "":
		b.bindTemplate(&v, rule.Text, nil)
	case len(rule.Join) > 0:
		columns(rule.Join...)
		v.glue = cmp.Or(rule.With, new(", "))
	case rule.Expr.Text != "":
		v.expr = b.expression(rule.Expr, false)
		columns, names := v.expr.Columns()
		v.columns, v.names = columns, foldHeaders(names...)
	case len(rule.FirstOf) > 0:
		columns(rule.FirstOf...)
	case rule.Column.Text != "":
		columns(rule.Column)
	}
	if rule.Default != nil {
		v.fallback = b.constant(label, *rule.Default, v.conv)
		if typ == convert.Email || typ == convert.Phone {
			b.wrongAt(rule.Default.At, "wrong-option", "“%s”: all clients without one would have the default, and be one person", label)
		}
	}
	return v
}

// optionsAt returns the place to show for an option that makes no sense.
func (v *ValueRule) optionsAt() yamltree.Place {
	for _, w := range []yamltree.Scalar{v.format(), v.Region, v.Output, v.Type} { // lists have no place of their own
		if w.Text != "" {
			return w.At
		}
	}
	return v.At
}

// conversion returns the converter of a rule, with the defaults of its options.
func (b *binder) conversion(rule *ValueRule, typ convert.Type) convert.Converter {
	c := convert.Converter{
		Type: typ, Format: rule.format().Text, OtherFormats: scalarTexts(rule.Formats[min(1,
			len(rule.Formats)):]), Region: strings.ToUpper(rule.Region.Text),
		Zone: b.zone, Date1904: b.sheet.Date1904, Numbers: b.mapping.Sheet.Numbers, Percent: rule.Percent,
		Years: rule.Years, Today: b.runDate, Checked: rule.Checked, Unchecked: rule.Unchecked,
		Values: rule.Values, Else: rule.Else, MaxLength: rule.MaxLength, IsBareDate: rule.Output.Text == "date",
	}
	if typ == convert.Phone && c.Format == "e164" { // the default: the same reading, however it is said
		c.Format = ""
	}
	if typ == convert.DateTime && b.zone == nil && len(rule.Formats) > 0 {
		b.wrongAt(rule.format().At, "no-timezone", "“%s” has no timezone, and neither does the mapping", rule.format().Text).
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
	value, refusal := conv.Convert(textCell(w.Text))
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
func (b *binder) columns(names []yamltree.Scalar) []int {
	var found []int
	for _, w := range names {
		if i, ok := b.column(w); ok {
			found = append(found, i)
		}
	}
	return found
}

func (b *binder) column(w yamltree.Scalar) (int, bool) {
	if alias, ok := b.aliases[w.Text]; ok {
		b.usedAliases[alias.At] = true
		w = alias
	} else if alias, at := b.bypassed(w.Text); alias != "" {
		b.wrongAt(w.At, "one-claim-column",
			"“%s” is the column of one claims entry (line %d), and this activity is on %d entries: every claim would get it",
			w.Text, at.Line, len(b.entries)).Hint = "write “" + alias + "”, which each entry's columns give a column of its own"
		return 0, false
	}
	if w.Text == "" {
		return 0, false
	}
	b.named[convert.FoldHeader(w.Text)] = w.Text
	if !b.hasSheet {
		return 0, false
	}
	i, missing := findColumn(b.sheet, w.Text)
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
		for name, target := range entry.columns {
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
			b.wrongAt(w.At, "unknown-column",
				"“%s” is a name of some of the claims that this activity is on, and another entry has none of that name", w.Text).
				Hint = "add “" + w.Text + "” to the columns of each of these entries"
			return true
		}
		b.wrongAt(w.At, "unknown-column", "“%s” is a name of claims “%s”, for that entry and the activities on it", w.Text, c.ID.Text).
			Hint = "add on: " + c.ID.Text + " to the activity, or write the column of the sheet"
		return true
	}
	return false
}

// bindTemplate binds a text with {Column}: it replaces the names whose text is known, and finds the
// columns of the others. What is wrong with the braces Parse has reported.
func (b *binder) bindTemplate(v *boundValue, w yamltree.Scalar, known map[string]string) {
	v.text, _ = parseTemplate(w.Text)
	for i, part := range v.text {
		if part.name == "" {
			continue
		}
		s, isKnown := known[part.name]
		if !isKnown {
			if c, ok := b.column(yamltree.Scalar{Text: part.name, At: w.At}); ok {
				v.columns, v.names = append(v.columns, c), append(v.names, convert.FoldHeader(part.name))
				continue
			}
		}
		v.text[i] = textPart{literal: s}
	}
}

// condition compiles a when; nil for an empty one.
func (b *binder) condition(w yamltree.Scalar) *expr.Expression {
	if w.Text == "" {
		return nil
	}
	return b.expression(w, true)
}

// expression compiles an expression and finds its columns. It is never nil; after a problem it must not be run.
func (b *binder) expression(w yamltree.Scalar, isCondition bool) *expr.Expression {
	return expr.Compile(w.Text, expr.Options{
		Condition: isCondition, Line: w.At.Line, Cells: b.conversion(&ValueRule{}, convert.Text),
		Column: func(name string, offset int) (int, bool) {
			return b.column(yamltree.Scalar{Text: name, At: inside(w, offset)})
		},
		Wrong: func(offset int, message, hint string) {
			b.wrongAt(inside(w, offset), "expression", "%s", message).Hint = hint
		},
	})
}

// inside returns the place of a character of an expression. YAML folds and
// indents expressions of several lines, so only their beginning is known.
func inside(w yamltree.Scalar, offset int) yamltree.Place {
	if strings.Contains(w.Text, "\n") {
		return w.At
	}
	return yamltree.Place{Line: w.At.Line, Column: w.At.Column + offset}
}
