package mapping

import (
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

var valueFields = []field[ValueRule]{
	{"column", "the column that holds the value", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Column = p.word(n, "column") }},
	{"value", "a constant", false,
		func(p *parser, n *yaml.Node, v *ValueRule) {
			if p.isKind(n, yaml.ScalarNode, "value", "a text, a number or true or false") {
				v.Constant, v.hasConstant, v.constantKind = p.word(n, "value"), true, scalarKind(n)
			}
		}},
	{"text", "a text with {Column}", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Text = p.word(n, "text") }},
	{"first_of", "columns of which the first that is not empty is taken", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.FirstOf = p.words(n, "first_of") }},
	{"expr", "an expression", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Expr = p.expression(n, "expr") }},
	{"type", "the data type; default: the service's. An attribute that has none anywhere is sent as Text with a warning; over dates, numbers and booleans that is refused", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Type = p.oneOf(n, "type", typeNames()...) }},
	{"format", "how dates look in text cells, e.g. dd/mm/yyyy; how a phone number is sent", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Format = p.word(n, "format") }},
	{"output", "how a Date is sent in a client field: date or datetime (default)", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Output = p.oneOf(n, "output", "date", "datetime") }},
	{"region", "the country of phone numbers without a country code, e.g. GB", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Region = p.word(n, "region") }},
	{"checked", "the words that tick a Checkbox", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Checked = texts(p.words(n, "checked")) }},
	{"unchecked", "the words that leave a Checkbox unticked", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Unchecked = texts(p.words(n, "unchecked")) }},
	{"values", "a table: what the cell says and what is sent for it", false,
		func(p *parser, n *yaml.Node, v *ValueRule) {
			v.Values = map[string]string{}
			for from, to := range p.table(n, "values") {
				v.Values[from] = to.Text
			}
		}},
	{"else", "what is sent for a cell that values does not list", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { w := p.word(n, "else"); v.Else = &w.Text }},
	{"default", "what is sent for an empty cell", false,
		func(p *parser, n *yaml.Node, v *ValueRule) {
			w := p.word(n, "default")
			v.Default, v.defaultKind = &w, scalarKind(n)
		}},
	{"required", "an empty cell is an error; default false", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.Required = p.boolean(n, "required") }},
	{"max_length", "the most characters that the value may have", false,
		func(p *parser, n *yaml.Node, v *ValueRule) { v.MaxLength = p.count(n, "max_length", 1) }},
}

// value reads a value's source and options; a bare text is a column.
func (p *parser) value(n *yaml.Node, what string) ValueRule {
	v := ValueRule{At: place(n)}
	if n.Kind == yaml.ScalarNode {
		v.Column = p.word(n, what)
		return v
	}
	object(p, n, "“"+what+"”", &v, valueFields)
	p.checkText(v.Text)
	if v.sources() != 1 && n.Kind == yaml.MappingNode {
		p.wrong(n, "value-source", "“%s” needs exactly one of column, value, text, first_of and expr", what)
	}
	if v.Required && v.Default != nil {
		p.wrong(n, "required-default", "“%s” is required and has a default; an empty cell cannot be both", what)
	}
	return v
}

// sources counts the sources that a value names.
func (v *ValueRule) sources() int {
	n := 0
	for _, given := range []bool{v.Column.Text != "", v.hasConstant, v.Text.Text != "", len(v.FirstOf) > 0, v.Expr.Text != ""} {
		if given {
			n++
		}
	}
	return n
}

// separator reads a decimal or group separator: one character, or none for a
// group.
func (p *parser) separator(n *yaml.Node, what string) string {
	if !p.isKind(n, yaml.ScalarNode, what, "one character in quotes") {
		return ""
	}
	if count := utf8.RuneCountInString(n.Value); count > 1 || count == 0 && what == "decimal" {
		p.wrong(n, "separator", "%s must be one character in quotes, not “%s”", what, n.Value)
	}
	return n.Value
}

// delimiter reads what parts the fields of a CSV file. A tab may be written out
// or as the character.
func (p *parser) delimiter(n *yaml.Node) string {
	if !p.isKind(n, yaml.ScalarNode, "sheet.delimiter", "a text") {
		return ""
	}
	switch n.Value {
	case ",", ";", "\t":
		return n.Value
	case "tab":
		return "\t"
	}
	p.wrong(n, "unknown-value", "sheet.delimiter cannot be “%s”", n.Value).Hint = `expected ",", ";" or tab`
	return ""
}

func typeNames() []string {
	var names []string
	for _, t := range AttributeTypes {
		names = append(names, string(t))
	}
	return append(names, string(Email), string(Phone))
}

func texts(words []Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}
