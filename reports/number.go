package reports

import "slices"

// isNumber tells whether a spreadsheet program reads s as a number: digits with
// an optional sign, point and exponent.
func isNumber(s string) bool {
	s = unsigned(s)
	whole := digits(s)
	rest := s[whole:]
	fraction := 0
	if rest != "" && rest[0] == '.' {
		fraction = digits(rest[1:])
		rest = rest[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	exponent := unsigned(rest[1:])
	return exponent != "" && digits(exponent) == len(exponent)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// digits is how many digits s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// errorNames are the errors that every spreadsheet program has.
var errorNames = []string{"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA"}

// errorName is an error's name as a cell may hold it: Excel calls a file with
// any other damaged.
func errorName(name string) string {
	if slices.Contains(errorNames, name) {
		return name
	}
	return "#VALUE!"
}
