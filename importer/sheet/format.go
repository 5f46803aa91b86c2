package sheet

import "strings"

// format is a compiled number format. A nil *format is General.
type format struct {
	code     string
	sections []section // of numbers, one to three; nil shows them as in General
}

// formatCode is the code, "" for General.
func (f *format) formatCode() string {
	if f == nil {
		return ""
	}
	return f.code
}

// maxCode bounds a format code; spreadsheet programs stop at 255.
const maxCode = 1_000

// compile reads a number format code. What of it cannot be rendered leaves the
// number as in General: all its digits are better than a wrong few.
func compile(code string) *format {
	if code == "" || strings.EqualFold(code, "General") {
		return nil
	}
	f := &format{code: code}
	if len(code) > maxCode {
		return f
	}
	for _, tokens := range scanCode(code) {
		if isTextSection(tokens) || len(f.sections) == maxSections-1 {
			break
		}
		s, ok := compileSection(tokens)
		if !ok {
			f.sections = nil
			return f
		}
		f.sections = append(f.sections, s)
	}
	return f
}

func isTextSection(tokens []codeToken) bool {
	for _, t := range tokens {
		if t.kind == valueCode {
			return true
		}
	}
	return false
}

// pick is the section for a number, nil for General. signless tells that the
// section shows nothing but negative numbers, and says so itself.
func (f *format) pick(d decimal) (s *section, signless bool) {
	switch {
	case f == nil || len(f.sections) == 0:
		return nil, false
	case len(f.sections) == 1 && f.sections[0].operator == "": // nearly always
		return &f.sections[0], false
	}
	v := d.float()
	last := len(f.sections) - 1
	for i := range f.sections {
		s := &f.sections[i]
		switch {
		case s.operator != "":
			if compare(v, s.operator, s.operand) {
				return s, s.operand == 0 && (s.operator == "<" || s.operator == "<=")
			}
		case i == last && i > 0:
			return s, i == 1 && f.sections[0].isUpper()
		case i == 0:
			if v > 0 || v == 0 && last == 1 {
				return s, false
			}
		case v < 0:
			return s, true
		}
	}
	return nil, false
}

// isUpper reports whether a first section takes all positive numbers and no
// negative ones.
func (s *section) isUpper() bool {
	return s.operator == "" || s.operand == 0 && (s.operator == ">" || s.operator == ">=")
}

func compare(v float64, operator string, operand float64) bool {
	switch operator {
	case "<":
		return v < operand
	case "<=":
		return v <= operand
	case ">":
		return v > operand
	case ">=":
		return v >= operand
	case "<>":
		return v != operand
	}
	return v == operand
}
