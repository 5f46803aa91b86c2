package sheet

// Show is a number in a format, for fuzzing without a file around it.
func Show(code, value string) string {
	d, ok := parseDecimal([]byte(value))
	if !ok {
		return ""
	}
	shown, _ := compile(code).show(nil, d, false)
	return string(shown)
}
