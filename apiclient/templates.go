package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Template is an activity template of the reference data.
type Template struct {
	ID         string
	Name       string
	Attributes []AttributeTemplate
}

// AttributeTemplate is an attribute template. DataType is one of Text, TextArea,
// DropDown, Checkbox, Date, DateTime, Number and Currency; "" when the service
// does not report one.
type AttributeTemplate struct {
	ID       string
	Name     string
	DataType string
	Options  []string // the texts that a DropDown takes; nil when the service does not report them
}

// Templates reads the activity templates of the environment (document, section
// "Activity template"). It is strict: an answer that is not an array of objects
// with id and name is an error (a *Failure), because a wrong template is worse
// than none.
//
// Each of the notes names one data type of the service that is not known; its attributes get no DataType.
func (c *Client) Templates(ctx context.Context) ([]Template, []string, error) {
	req, what := c.Routes().Templates(), "reading the activity templates"
	a, err := c.Do(ctx, req)
	if err != nil {
		return nil, nil, during(what, err)
	}
	if err := c.refusal(what, a); err != nil {
		return nil, nil, err
	}
	templates, notes, err := parseTemplates(c.cfg.Wire, a)
	if err != nil {
		return nil, nil, &Failure{Retry: unlessJSON(a), Reason: "the answer with the activity templates " + err.Error()}
	}
	return templates, notes, nil
}

// parseTemplates reads the templates of an answer. Its errors complete the sentence "the answer …".
func parseTemplates(w Wire, a Answer) (templates []Template, notes []string, err error) {
	doc, ok := document(a.Body)
	if !ok {
		return nil, nil, fmt.Errorf("%s: check base_url", notJSON(a))
	}
	list := follow(doc, w.Templates)
	if list.repeated || form(list.value) != "array" {
		return nil, nil, noArray(w, doc)
	}
	items := inside(list.value, "array")
	if why := isPartial(a, doc, len(items)); why != "" {
		return nil, nil, fmt.Errorf("is one page of several (%s), and Claimsheet reads one only: "+
			"ask the service's operator how one answer holds all templates", why)
	}
	templates = []Template{}
	unknown := map[string]bool{} // data types
	for i, item := range items {
		t, err := template(w, item.value, func(attribute, theirs string) {
			if !unknown[theirs] {
				unknown[theirs] = true
				notes = append(notes, fmt.Sprintf("the data type %q of %q is not known and is ignored: set wire.data_types", theirs, attribute))
			}
		})
		if err != nil {
			return nil, notes, fmt.Errorf("has at %s/%d %w", w.Templates, i, err)
		}
		templates = append(templates, t)
	}
	return templates, notes, nil
}

// noArray says what the answer has in the place of the array of templates.
func noArray(w Wire, doc []byte) error {
	err := fmt.Errorf("has no array at %s", placeName(w.Templates))
	if w.Templates == "" {
		err = fmt.Errorf("is %s, not an array", article(form(doc)))
	}
	if place, ok := templatesAt(doc); ok {
		err = fmt.Errorf("%w: the templates are at %s; set wire.templates in the environment to %q", err, placeName(place), place)
	}
	return err
}

// templatesAt returns the pointer to the array of an answer whose elements are objects with id
// and name, or one to an empty array if it is the only one.
func templatesAt(doc []byte) (pointer string, ok bool) {
	var empty []string
	var look func(value []byte, at string, depth int) bool
	look = func(value []byte, at string, depth int) bool {
		if items := inside(value, "array"); len(items) > 0 {
			_, _, err := idAndName(items[0].value)
			pointer = at
			return err == nil
		} else if form(value) == "array" {
			empty = append(empty, at)
		}
		return slices.ContainsFunc(inside(value, "object"), func(m member) bool {
			return depth < 4 && plainName.MatchString(m.key) && look(m.value, at+"/"+m.key, depth+1)
		})
	}
	if look(doc, "", 0) {
		return pointer, true
	}
	return strings.Join(empty, ""), len(empty) == 1
}

var nextLink = regexp.MustCompile(`(?i);\s*rel\s*=\s*"?([^";]*\s)?next([\s";]|$)`)

// isPartial says how an answer with a list of n elements shows that there are more; "" if it does
// not: by a link to the next page, or by a field beside or around the list.
func isPartial(a Answer, doc []byte, n int) string {
	for _, links := range a.Header.Values("Link") {
		if slices.ContainsFunc(strings.Split(links, ","), nextLink.MatchString) {
			return `Link: rel="next"`
		}
	}
	fields := []member{{key: "total", value: encode(a.Header.Get("X-Total-Count"))}}
	for _, m := range inside(doc, "object") {
		fields = append(append(fields, m), inside(m.value, "object")...)
	}
	for _, m := range fields {
		text, _ := scalar(m.value)
		switch total, err := strconv.Atoi(text); plainly(m.key) {
		case "total", "totalcount", "totalitems", "totalelements", "totalresults", "count":
			if err == nil && total > n {
				return fmt.Sprintf("%d of %d came", n, total)
			}
		case "next", "nextpage", "nextlink", "nexturl", "nextcursor", "nextpagetoken", "@odata.nextlink", "hasmore", "hasnext":
			if text != "" && text != "false" || len(inside(m.value, "object")) > 0 {
				return "its field " + m.key
			}
		}
	}
	return ""
}

func template(w Wire, item json.RawMessage, unknown func(attribute, theirs string)) (t Template, err error) {
	if t.ID, t.Name, err = idAndName(item); err != nil {
		return Template{}, err
	}
	nested := follow(item, "/activityAttributeTemplates")
	if nested.value == nil || form(nested.value) == "null" && !nested.repeated {
		return t, nil
	}
	if nested.repeated || form(nested.value) != "array" {
		return Template{}, errors.New("a template whose activityAttributeTemplates is not one array")
	}
	for i, m := range inside(nested.value, "array") {
		at := AttributeTemplate{Options: optionsOf(w, m.value)}
		if at.ID, at.Name, err = idAndName(m.value); err != nil {
			return Template{}, fmt.Errorf("activityAttributeTemplates/%d %w", i, err)
		}
		theirs := ""
		if at.DataType, theirs = dataType(w, m.value); at.DataType == "" && theirs != "" {
			unknown(t.Name+"/"+at.Name, theirs)
		}
		t.Attributes = append(t.Attributes, at)
	}
	return t, nil
}

func idAndName(item json.RawMessage) (id, name string, err error) {
	if form(item) != "object" {
		return "", "", fmt.Errorf("%s instead of a template", article(form(item)))
	}
	if id, err = follow(item, "/id").only("/id", readID); err != nil {
		return "", "", fmt.Errorf("a template that %w", err)
	}
	name, err = follow(item, "/name").only("/name", func(v json.RawMessage) (string, error) {
		if s, ok := stringOf(v); ok && strings.TrimSpace(s) != "" {
			return s, nil
		}
		return "", fmt.Errorf("has no text")
	})
	if err != nil {
		return "", "", fmt.Errorf("a template that %w", err)
	}
	return id, name, nil
}

// dataType returns an attribute's data type, theirs and in our names: as wire.data_types translates it, else
// the document's name in any case; "" for none or an unknown one.
func dataType(w Wire, item json.RawMessage) (ours, theirs string) {
	f := follow(item, w.DataType)
	if w.DataType == "" || f.value == nil || f.repeated || form(f.value) == "null" {
		return "", ""
	}
	theirs, ok := scalar(f.value)
	if !ok {
		theirs = article(form(f.value))
	}
	ours = w.DataTypes[theirs]
	for _, name := range DataTypes {
		if ours == "" && strings.EqualFold(name, theirs) {
			ours = name
		}
	}
	return ours, theirs
}

// optionsOf returns the options of an attribute that are texts or have a name; nil without such a list.
func optionsOf(w Wire, item json.RawMessage) []string {
	var options []string
	for _, item := range inside(follow(item, w.Options).value, "array") {
		option := item.value
		if form(option) == "object" {
			option = follow(option, "/name").value
		}
		if text, ok := stringOf(option); ok && strings.TrimSpace(text) != "" {
			options = append(options, text)
		}
	}
	return options
}
