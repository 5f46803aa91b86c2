package mapping

import "go.yaml.in/yaml/v4"

var numberFields = []field[Numbers]{
	{"decimal", "the decimal separator; default .", false,
		func(p *parser, n *yaml.Node, s *Numbers) { s.Decimal = p.separator(n, "decimal") }},
	{"group", "the separator between groups of three digits, \"\" for none; default , or none where decimal is ,", false,
		func(p *parser, n *yaml.Node, s *Numbers) { s.Group = p.separator(n, "group") }},
}

// readNumbers reads a notation of numbers. One that could be read in two ways is
// refused: a thousand would be taken for one.
func readNumbers(p *parser, n *yaml.Node, s *SheetRule) {
	before := len(p.problems)
	object(p, n, "sheet.numbers", &s.Numbers, numberFields)
	if len(p.problems) > before {
		return
	}
	places := map[string]*yaml.Node{}
	for key, value := range p.pairs(n, "sheet.numbers") {
		places[key.Value] = value
	}
	if places["group"] == nil && s.Numbers.Group == s.Numbers.Decimal {
		s.Numbers.Group = "" // the default, which decimal takes
	}
	for _, m := range s.Numbers.Check() {
		p.wrong(places[m.Option], m.Code, "%s", m.Message).Hint = m.Hint
	}
}
