package sheet

// Show is a number in a format, for fuzzing without a file around it.
func Show(code, value string) string {
	d, ok := parseDecimal([]byte(value))
	if !ok {
		return ""
	}
	f := compile(code)
	if f.isDate() {
		if shown, ok := f.renderSerial(nil, d, false); ok {
			return string(shown)
		}
	}
	return string(f.render(nil, d))
}
