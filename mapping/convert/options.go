package convert

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/nyaruka/phonenumbers"
)

// Check returns what is wrong with the options that the mapping file gives a value: those that do not belong to the type, contradict
// another or cannot be understood. Each is one line without a full stop. Zone, Date1904 and Numbers belong to the sheet.
func (c *Converter) Check() (wrong []string) {
	texts := []Type{Text, TextArea, DropDown}
	for _, o := range []struct {
		key   string
		given bool
		types []Type
	}{
		{"format", c.Format != "", []Type{Date, DateTime, Phone}},
		{"years", c.Years != spreadsheetYears, []Type{Date, DateTime}},
		{"output", c.IsBareDate, []Type{Date}},
		{"checked", c.Checked != nil, []Type{Checkbox}},
		{"unchecked", c.Unchecked != nil, []Type{Checkbox}},
		{"percent", c.Percent, []Type{Number}},
		{"values", c.Values != nil, texts},
		{"else", c.Else != nil, texts},
		{"region", c.Region != "", []Type{Phone}},
		{"max_length", c.MaxLength != 0, append(texts, Email, Phone)},
	} {
		if o.given && !slices.Contains(o.types, c.Type) {
			wrong = append(wrong, o.key+" does not go with the type "+string(c.Type))
		}
	}
	switch {
	case c.Type == Date || c.Type == DateTime:
		for _, format := range c.formats() {
			if _, err := parseDateFormat(format); err != nil && format != "" && format != serialFormat {
				wrong = append(wrong, fmt.Sprintf("%v (in “%s”)", err, format))
			}
		}
	case len(c.OtherFormats) > 0:
		wrong = append(wrong, "a list of formats is for dates, and this is a "+string(c.Type))
	case c.Type == Phone:
		if _, ok := phoneFormats[c.Format]; !ok && c.Format != phoneRaw {
			wrong = append(wrong, "format is not a format of phone numbers; expected e164, national, international or raw")
		}
	}
	if c.Type == Checkbox && (c.Checked == nil) != (c.Unchecked == nil) {
		wrong = append(wrong, "checked and unchecked must both be given: declared words replace the usual ones")
	}
	if c.Else != nil && c.Values == nil {
		wrong = append(wrong, "else is given without values")
	}
	for _, w := range c.Checked {
		if hasWord(c.Unchecked, w) {
			wrong = append(wrong, strconv.Quote(w)+" is under both checked and unchecked (case is ignored)")
		}
	}
	if c.Type == Phone && c.Region != "" && !phonenumbers.GetSupportedRegions()[c.Region] {
		wrong = append(wrong, "“"+c.Region+"” is not a region; expected two letters of ISO 3166, for example GB")
	}
	return wrong
}
