package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// maxForm is how many bytes a form may have.
const maxForm = 1 << 20

// formInput is a field of the form.
type formInput struct {
	attributeTemplate
	element
	Options []string // that a DropDown takes
}

// journey is the page of the claims site.
func (s *Service) journey(r *http.Request) page {
	c := s.state.tokens[r.PathValue("token")]
	if c == nil {
		return unknownLink(r)
	}
	return page{http.StatusOK, "journey", map[string]any{"Path": pathOf(r), "Client": c, "Inputs": s.inputs(c)}}
}

// pathOf returns the path of a client's journey.
func pathOf(r *http.Request) string { return "/start/" + r.PathValue("token") }

var unknownLink = says(http.StatusNotFound, "This link does not lead anywhere", "The sandbox has not handed it out, or holds other data now. "+
	"Look at the address again, or start the sandbox with the state folder of the run: claimsheet sandbox --state FOLDER.")

// inputs are the fields of a client's current step.
func (s *Service) inputs(c *client) (inputs []formInput) {
	if at := c.Current(); at != nil {
		for _, a := range s.reference.byID[at.TemplateID].Attributes {
			inputs = append(inputs, newInput(a))
		}
	}
	return inputs
}

// submit completes the current step with what the form has. Guard refuses forms of other sites.
func (s *Service) submit(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	find := s.complete
	if r.ParseForm() != nil {
		find = says(http.StatusBadRequest, "The form was not sent", "It is too large or incomplete. Go back and try again with shorter texts.")
	}
	s.show(w, r, find)
}

// complete stores what the client entered, and the activity that the workflow places
// then. The document does not show how the service completes an activity: here it is as
// if it were Submitted with the attributes.
func (s *Service) complete(r *http.Request) page {
	c := s.state.tokens[r.PathValue("token")]
	if c == nil {
		return unknownLink(r)
	}
	at := c.Current()
	if at == nil || at.ID != r.PathValue("activity") { // completed meanwhile, or an old page
		return goTo(pathOf(r))
	}
	values, wrong := readForm(s.inputs(c), r.PostForm)
	if _, known := s.reference.byID[at.TemplateID]; !known {
		wrong = "The sandbox was started without the template of this activity: start it with the reference data of the run, --templates FILE."
	}
	if wrong == "" {
		e := entryRecord{ActivityID: at.ID, Attributes: values, Created: s.clock()}
		if id := s.reference.next(c, at); id != "" {
			e.Next = &activityRecord{ID: uuid.NewString(), TemplateID: id, Template: s.reference.byID[id].Name, Status: "Open",
				WorkflowName: at.WorkflowName, WorkflowTemplateIdentifier: at.WorkflowTemplateIdentifier, Created: e.Created}
		}
		refused := s.store(record{Entry: &e, Owner: c.ID})
		if refused == nil {
			return goTo(pathOf(r))
		}
		wrong = refused.Message
	}
	return says(http.StatusUnprocessableEntity, "The step was not sent", wrong)(r)
}

// readForm returns the values of the form, or what is wrong with it: mistakes that the browser
// has let through. The document has no required attributes, but a completed activity has
// at least one.
func readForm(inputs []formInput, form url.Values) (values []attributeRecord, wrong string) {
	isFilled, boxes := false, 0
	for _, in := range inputs {
		typed := strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(form.Get(in.ID), "\r\n", "\n"), "\ufffd"))
		value, wrong := in.value(typed)
		if wrong != "" {
			return nil, wrong + " Go back and correct it."
		}
		if value != nil {
			values = append(values, attributeRecord{TemplateID: in.ID, Name: in.Name, Field: cmp.Or(fieldOf(in.DataType), "stringValue"), Value: value})
		}
		if in.Kind == "checkbox" {
			boxes++
		}
		isFilled = isFilled || typed != ""
	}
	if !isFilled && boxes < len(inputs) {
		return nil, "Go back and fill in at least one field."
	}
	return values, ""
}

// element is how a form asks for a data type.
type element struct {
	Kind    string // text, textarea, number, date, datetime-local, checkbox or select
	Hint    string
	must    string   // what is typed must be this; "" for any text
	layouts []string // of a time
}

var elements = map[string]element{
	"TextArea": {Kind: "textarea"},
	"Checkbox": {Kind: "checkbox"},
	"Date":     {"date", "", "a date of the calendar, such as 1980-05-01.", []string{time.DateOnly}},
	"DateTime": {"datetime-local", "Date and time in UTC.", "a date and a time, such as 2026-03-01T09:30.",
		[]string{"2006-01-02T15:04", "2006-01-02T15:04:05"}},
	"Number":   {"number", "In digits, such as 12.5.", "a number in digits and a point, such as 1234.50.", nil},
	"Currency": {"number", "An amount in digits, such as 1234.50.", "a number in digits and a point, such as 1234.50.", nil},
	"DropDown": {Kind: "text", Hint: "The reference data list no options, so any text can be entered."},
}

// newInput returns the empty field of an attribute, as its data type asks.
func newInput(a attributeTemplate) formInput {
	in := formInput{attributeTemplate: a, element: elements[a.DataType]}
	in.Kind = cmp.Or(in.Kind, "text")
	var options []string
	if err := json.Unmarshal(a.Options, &options); a.DataType == "DropDown" && err == nil && len(options) > 0 {
		in.Options, in.element = options, element{Kind: "select", must: "one of the options."}
	}
	return in
}

var number = regexp.MustCompile(`^(-?)0*([0-9]+(?:\.[0-9]+)?)$`)

// value returns what was typed as JSON, nil for nothing, or what is wrong with it.
func (in formInput) value(text string) (value json.RawMessage, wrong string) {
	_, notFitting := strconv.ParseFloat(text, 64)
	switch {
	case in.Kind == "checkbox":
		return jsonOf(text != ""), ""
	case text == "":
		return nil, ""
	case in.Kind == "number" && notFitting == nil && number.MatchString(text):
		return json.RawMessage(number.ReplaceAllString(text, "$1$2")), "" // JSON has no leading zeros
	case in.must == "", in.Kind == "select" && slices.Contains(in.Options, text):
		return jsonOf(text), ""
	}
	for _, layout := range in.layouts {
		if moment, err := time.Parse(layout, text); err == nil {
			return jsonOf(moment.Format(time.RFC3339)), ""
		}
	}
	return nil, "“" + in.Name + "” must be " + in.must
}

// jsonOf returns a bool or a text as JSON.
func jsonOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // bools and texts always have a form in JSON
	}
	return raw
}
