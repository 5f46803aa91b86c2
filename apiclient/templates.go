package apiclient

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
// Each of the notes names one data type of the service that is not known; its
// attributes get no DataType.
func (c *Client) Templates(ctx context.Context) ([]Template, []string, error) {
	req, what := c.Routes().Templates(), "reading the activity templates"
	a, err := c.Do(ctx, req)
	if err != nil {
		return nil, nil, during(what, err)
	}
	if err := c.refusal(req, what, a); err != nil {
		return nil, nil, err
	}
	p := templateParser{wire: c.cfg.Wire}
	templates, err := p.parse(a)
	if err != nil {
		return nil, nil, &Failure{Retry: unlessJSON(a), Reason: "the answer with the activity templates " + err.Error()}
	}
	return templates, p.notes, nil
}

// templateParser reads templates and collects notes. Its errors complete the
// sentence "the answer …".
type templateParser struct {
	wire    Wire
	unknown []string // data types that have a note
	notes   []string
}

func (p *templateParser) parse(a Answer) ([]Template, error) {
	doc, ok := document(a.Body)
	if !ok {
		return nil, fmt.Errorf("%s: check base_url", notJSON(a))
	}
	if form(doc) != "array" {
		return nil, fmt.Errorf("is %s, not an array", article(form(doc)))
	}
	templates := []Template{}
	for i, item := range inside(doc, "array") {
		t, err := p.template(item.value)
		if err != nil {
			return nil, fmt.Errorf("has at /%d %w", i, err)
		}
		templates = append(templates, t)
	}
	return templates, nil
}

func (p *templateParser) template(item json.RawMessage) (t Template, err error) {
	if t.ID, t.Name, err = idAndName(item); err != nil {
		return Template{}, err
	}
	nested := follow(item, "/activityAttributeTemplates").values
	if len(nested) == 0 || form(nested[0]) == "null" {
		return t, nil
	}
	if len(nested) > 1 || form(nested[0]) != "array" {
		return Template{}, fmt.Errorf("a template whose activityAttributeTemplates is not one array")
	}
	for i, m := range inside(nested[0], "array") {
		item := m.value
		var at AttributeTemplate
		if at.ID, at.Name, err = idAndName(item); err != nil {
			return Template{}, fmt.Errorf("activityAttributeTemplates/%d %w", i, err)
		}
		at.DataType = p.dataType(item, t.Name+"/"+at.Name)
		at.Options = p.options(item)
		t.Attributes = append(t.Attributes, at)
	}
	return t, nil
}

func idAndName(item json.RawMessage) (id, name string, err error) {
	if form(item) != "object" {
		return "", "", fmt.Errorf("%s instead of a template", article(form(item)))
	}
	if id, err = identifier(follow(item, "/id"), "/id"); err != nil {
		return "", "", fmt.Errorf("a template that %w", err)
	}
	name, err = only(follow(item, "/name").values, "/name", "name", func(v json.RawMessage) (string, error) {
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

// dataType returns an attribute's data type in our names: as wire.data_types
// translates it, else the document's name in any case; "" for none or an unknown
// one.
func (p *templateParser) dataType(item json.RawMessage, attribute string) string {
	if p.wire.DataType == "" {
		return ""
	}
	values := follow(item, p.wire.DataType).values
	if len(values) != 1 || form(values[0]) == "null" {
		return ""
	}
	theirs, ok := scalar(values[0])
	if !ok {
		theirs = article(form(values[0]))
	}
	if ours, ok := p.wire.DataTypes[theirs]; ok {
		return ours
	}
	i := slices.IndexFunc(dataTypes, func(ours string) bool { return strings.EqualFold(ours, theirs) })
	if i >= 0 {
		return dataTypes[i]
	}
	if !slices.Contains(p.unknown, theirs) {
		p.unknown = append(p.unknown, theirs)
		p.notes = append(p.notes, fmt.Sprintf("the data type %q of %q is not known and is ignored: set wire.data_types", theirs, attribute))
	}
	return ""
}

// options returns the options of an attribute: those of the list at wire.options that
// are texts, or have a name; nil without such a list.
func (p *templateParser) options(item json.RawMessage) []string {
	if p.wire.Options == "" {
		return nil
	}
	values := follow(item, p.wire.Options).values
	if len(values) != 1 || form(values[0]) != "array" {
		return nil
	}
	var options []string
	for _, item := range inside(values[0], "array") {
		option := item.value
		if form(option) == "object" {
			if named := follow(option, "/name").values; len(named) == 1 {
				option = named[0]
			}
		}
		if text, ok := stringOf(option); ok && strings.TrimSpace(text) != "" {
			options = append(options, text)
		}
	}
	return options
}
