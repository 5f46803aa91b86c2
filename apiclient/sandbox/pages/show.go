package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
)

// field is one value of a create payload; the name of a nested one is dotted.
type field struct{ Name, Value string }

// fieldsOf returns the values of a create payload in their order.
func fieldsOf(data json.RawMessage) []field {
	var fields []field
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var walk func(at string) error
	walk = func(at string) error {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'):
			for dec.More() {
				name, err := dec.Token()
				if err != nil {
					return err
				}
				inner := fmt.Sprint(name)
				if at != "" {
					inner = at + "." + inner
				}
				if err := walk(inner); err != nil {
					return err
				}
			}
			_, err = dec.Token()
		case json.Delim('['):
			for i := 0; dec.More(); i++ {
				if err := walk(fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
			_, err = dec.Token()
		default:
			fields = append(fields, field{at, fmt.Sprint(token)})
		}
		return err
	}
	_ = walk("") // the payload was checked when the client was created
	return fields
}

// nameOf returns what a client is called. The document does not show the names of
// the payload's fields: the values of those whose names contain "name" count, else the
// e-mail address.
func nameOf(data json.RawMessage) string {
	var parts []string
	email := ""
	for _, f := range fieldsOf(data) {
		switch last := strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '.')+1:]); {
		case strings.Contains(strings.ToLower(f.Name), "name") && strings.TrimSpace(f.Value) != "":
			parts = append(parts, f.Value)
		case strings.Contains(last, "mail") && email == "":
			email = f.Value
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case email != "":
		return email
	}
	return "(no name)"
}

// shownValue returns an attribute's value as people read it. Numbers and texts stay
// as they were sent.
func shownValue(a Attribute) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(a.Value))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return ""
	}
	switch v := v.(type) {
	case bool:
		if v {
			return "Yes"
		}
		return "No"
	case string:
		if a.DataType != "Date" && a.DataType != "DateTime" {
			return v
		}
		moment, err := time.Parse(time.RFC3339, v)
		switch {
		case err != nil:
			return v
		case a.DataType == "Date":
			return moment.Format("2 January 2006")
		case moment.Nanosecond() != 0:
			return moment.Format("2 January 2006, 15:04:05.999999999 MST")
		case moment.Second() != 0:
			return moment.Format("2 January 2006, 15:04:05 MST")
		}
		return moment.Format("2 January 2006, 15:04 MST")
	}
	return fmt.Sprint(v)
}

// shownTime returns a moment as an element with its exact form.
func shownTime(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2 Jan 2006, 15:04 MST") + `</time>`)
}

// runOf returns the run that a User-Agent of Claimsheet names, else the User-Agent.
func runOf(by string) string {
	if _, run, ok := strings.Cut(by, " run/"); ok && run != "" {
		return run
	}
	return by
}
