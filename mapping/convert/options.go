package convert

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// OptionError is an option of the mapping file that makes no sense.
type OptionError struct {
	Option  string // the option's key in the mapping file: format, values, max_length, …
	Code    string // a short word that does not change
	Message string // what is wrong and what was expected: one line without a full stop
	Hint    string // how to correct it
}

// OptionErrors are all that is wrong with the options of a Converter. A nil
// OptionErrors is not an error: compare it with nil before you use it as one.
type OptionErrors []OptionError

// Error returns all messages on one line.
func (m OptionErrors) Error() string {
	messages := make([]string, len(m))
	for i := range m {
		messages[i] = m[i].Message
	}
	return strings.Join(messages, "; ")
}

// Check returns every option that does not belong to the type, contradicts
// another or cannot be understood; nil when all is well. It checks what the
// mapping file says of a value. Zone, Date1904 and Numbers belong to the
// sheet.
func (c *Converter) Check() OptionErrors {
	return slices.Concat(c.checkUnsupportedOptions(), c.checkFormat(), c.checkWords(), c.checkTexts(), c.checkRegion())
}

// checkUnsupportedOptions returns the options that belong to another type.
func (c *Converter) checkUnsupportedOptions() []OptionError {
	texts := []Type{Text, TextArea, DropDown}
	options := []struct {
		key   string
		given bool
		types []Type
	}{
		{"format", c.Format != "", []Type{Date, DateTime, Phone}},
		{"years", c.Years != SpreadsheetYears, []Type{Date, DateTime}},
		{"output", c.Output != AsDateTime, []Type{Date}},
		{"checked", c.Checked != nil, []Type{Checkbox}},
		{"unchecked", c.Unchecked != nil, []Type{Checkbox}},
		{"percent", c.Percent, []Type{Number}},
		{"values", c.Values != nil, texts},
		{"else", c.Else != nil, texts},
		{"region", c.Region != "", []Type{Phone}},
		{"max_length", c.MaxLength != 0, append(texts, Email, Phone)},
	}
	own := c.Type
	if own == "" {
		own = Text
	}
	var found []OptionError
	for _, o := range options {
		if o.given && !slices.Contains(o.types, own) {
			found = append(found, OptionError{o.key, "option-type", o.key + " does not go with the type " + string(own),
				"leave it out; it goes with " + joinTypes(o.types)})
		}
	}
	return found
}

func joinTypes(types []Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

func (c *Converter) checkFormat() []OptionError {
	switch {
	case c.Format == "" && c.Years == SpreadsheetYears:
	case c.Type == Date || c.Type == DateTime:
		if found := c.checkDateFormats(); found != nil {
			return found
		}
	case len(c.OtherFormats) > 0:
		return []OptionError{{"format", "format-list", "a list of formats is for dates, and this is a " + string(c.Type), "give one format"}}
	case c.Type == Phone && c.Format != phoneRaw:
		if _, ok := phoneFormats[c.Format]; !ok {
			return []OptionError{{"format", "phone-format",
				"format is not a format of phone numbers; expected e164, national, international or raw", "leave it out for e164"}}
		}
	}
	if c.Type == Date && c.Output != AsDateTime && c.Output != AsDate {
		return []OptionError{{"output", "output", "output is not an output; expected date or datetime", "leave it out for datetime"}}
	}
	return nil
}

// checkDateFormats returns the formats of dates that cannot be understood, or
// are listed twice.
func (c *Converter) checkDateFormats() []OptionError {
	var found []OptionError
	formats := c.formats()
	isShort := func(format string) bool { f, err := parseDateFormat(format); return err != nil || f.short }
	if c.Years != SpreadsheetYears && !slices.ContainsFunc(formats, isShort) {
		found = append(found, OptionError{"years", "option-years",
			"years is for years of two digits, and the format has no yy", "leave years out"})
	}
	for i, format := range formats {
		if slices.Contains(formats[:i], format) {
			found = append(found, OptionError{"format", "date-format", "the format " + format + " is listed twice", "list it once"})
			continue
		}
		if format == serialFormat {
			continue
		}
		if _, err := parseDateFormat(format); err != nil {
			message := err.Error()
			if len(formats) > 1 {
				message += " (in “" + format + "”)"
			}
			found = append(found, OptionError{"format", "date-format", message, "write the format as the spreadsheet would, for example dd/mm/yyyy"})
		}
	}
	return found
}

// WrongFormat returns the index among the formats of the first that Check refuses; 0
// when it refuses none.
func (c *Converter) WrongFormat() int {
	formats := c.formats()
	return max(0, slices.IndexFunc(formats, func(format string) bool {
		_, err := parseDateFormat(format)
		return err != nil && format != serialFormat
	}))
}

// checkWords requires both lists of a Checkbox or none, and no word on both.
func (c *Converter) checkWords() []OptionError {
	if c.Type != Checkbox || c.Checked == nil && c.Unchecked == nil {
		return nil
	}
	var found []OptionError
	for _, list := range []struct {
		key   string
		words []string
	}{{"checked", c.Checked}, {"unchecked", c.Unchecked}} {
		if list.words == nil {
			found = append(found, OptionError{list.key, "checkbox-words", list.key + " is missing: declared words replace the usual ones, so that both lists are needed",
				"list the words for it too"})
		}
		if slices.ContainsFunc(list.words, func(w string) bool { return trimToken(w) != w || w == "" }) {
			found = append(found, OptionError{list.key, "checkbox-words", list.key + " has a word that is empty or has white space around it",
				"an empty cell leaves the attribute out; use default for it"})
		}
	}
	for _, w := range c.Checked {
		if hasWord(c.Unchecked, w) {
			found = append(found, OptionError{"unchecked", "checkbox-words", strconv.Quote(w) + " is under both checked and unchecked (case is ignored)",
				"list it under one of them"})
		}
	}
	return found
}

func (c *Converter) checkTexts() []OptionError {
	var found []OptionError
	if c.Else != nil && c.Values == nil {
		found = append(found, OptionError{"else", "else-alone", "else is given without values", "add values, or use default for empty cells"})
	}
	for _, from := range slices.Sorted(maps.Keys(c.Values)) {
		if Trim(from) != from || from == "" {
			found = append(found, OptionError{"values", "values-key", strconv.Quote(from) + " can never match: cells are trimmed before they are looked up, and an empty cell is not looked up",
				"write the text without white space around it"})
		}
		if r := refuseTooLong(c.Values[from], c.MaxLength); r != nil {
			found = append(found, OptionError{"values", "too-long", "what " + strconv.Quote(from) + " stands for " + r.Message, r.Hint})
		}
	}
	if c.MaxLength < 0 {
		found = append(found, OptionError{"max_length", "max-length", "max_length is negative", "give the number of characters that the service takes"})
	}
	return found
}

func (c *Converter) checkRegion() []OptionError {
	if c.Type != Phone || c.Region == "" || phonenumbers.GetSupportedRegions()[c.Region] {
		return nil
	}
	hint := "leave it out if every number begins with +"
	switch up := strings.ToUpper(c.Region); {
	case phonenumbers.GetSupportedRegions()[up]:
		hint = "write " + up
	case up == "UK":
		hint = "write GB"
	}
	return []OptionError{{"region", "phone-region", "“" + c.Region + "” is not a region; expected two letters of ISO 3166, for example GB", hint}}
}
