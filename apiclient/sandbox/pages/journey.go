package pages

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxForm is how many bytes a form may have.
const maxForm = 1 << 20

// journey is the page of the claims site.
type journey struct {
	Client
	Name    string
	Current *Step // nil when nothing is left to do
	Path    string
	Inputs  []input // of the current step
	Errors  []inputError
	Sent    string // the name of the step that was just completed; "" for none
}

// input is a field of the form.
type input struct {
	Attribute
	Kind    string // of the element: text, textarea, number, date, datetime-local, checkbox or select
	Hint    string
	Typed   string // what the client has typed
	Checked bool
	Error   string
}

// inputError is a line of the error summary. Field is the id of an input, "" for the
// form as a whole.
type inputError struct{ Field, Text string }

// ClaimOf returns the claim of a step; nil for none.
func (c Client) ClaimOf(s Step) *Claim {
	i := slices.IndexFunc(c.Claims, func(on Claim) bool { return on.ID == s.ClaimID })
	if i < 0 {
		return nil
	}
	return &c.Claims[i]
}

// Others returns the claimants of a claim besides the client, and the administrator
// if that is somebody else.
func (c Client) Others(on Claim) []Person {
	var others []Person
	for _, p := range append([]Person{on.Administrator}, on.Claimants...) {
		if p.ID != c.ID && !slices.ContainsFunc(others, func(o Person) bool { return o.ID == p.ID }) {
			others = append(others, p)
		}
	}
	return others
}

// Title names the page: a client may have several claims.
func (c Client) Title() string {
	if len(c.Claims) > 1 {
		return "Your claims"
	}
	return "Your claim"
}

// Done counts the completed steps.
func (c Client) Done() (done int) {
	for _, s := range c.Steps {
		if !s.Open {
			done++
		}
	}
	return done
}

// current returns the step where the client continues; nil for none.
func (c Client) current() *Step {
	i := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Open })
	if i < 0 {
		return nil
	}
	return &c.Steps[i]
}

func (h *Handler) journey(w http.ResponseWriter, r *http.Request) {
	c, ok := h.store.Holder(r.PathValue("token"))
	if !ok {
		h.unknownLink(w)
		return
	}
	page := newJourney(c, r.PathValue("token"), nil)
	for _, s := range c.Steps {
		if s.EnteredBy != nil && s.ID == r.URL.Query().Get("sent") {
			page.Sent = s.Template
		}
	}
	h.render(w, http.StatusOK, "journey", page)
}

func (h *Handler) unknownLink(w http.ResponseWriter) {
	h.render(w, http.StatusNotFound, "message", message{"This link does not lead anywhere",
		"The sandbox has not handed it out, or holds other data now. Look at the address again, or start the sandbox with the state folder of the run: claimsheet sandbox --state FOLDER."})
}

// newJourney fills the form with what was typed; nil for nothing. Browsers send
// UTF-8; what is not becomes U+FFFD.
func newJourney(c Client, token string, typed map[string][]string) *journey {
	page := &journey{Client: c, Name: nameOf(c.Data), Current: c.current(), Path: "/start/" + token}
	if page.Current == nil {
		return page
	}
	for _, a := range page.Current.Attributes {
		in := newInput(a)
		if values := typed[a.ID]; len(values) > 0 {
			in.Typed, in.Checked = strings.ToValidUTF8(values[0], "\ufffd"), a.DataType == "Checkbox"
		}
		page.Inputs = append(page.Inputs, in)
	}
	return page
}

// submit completes the current step with what the form has.
func (h *Handler) submit(w http.ResponseWriter, r *http.Request) {
	if !fromThisSite(r) {
		h.render(w, http.StatusForbidden, "message", message{"The form was not sent", "It came from another site. Open the redirect url again and fill in the form there."})
		return
	}
	token, id := r.PathValue("token"), r.PathValue("activity")
	c, ok := h.store.Holder(token)
	if !ok {
		h.unknownLink(w)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		h.render(w, http.StatusBadRequest, "message", message{"The form was not sent", "It is too large or incomplete. Go back and try again with shorter texts."})
		return
	}
	page := newJourney(c, token, r.PostForm)
	if page.Current == nil || page.Current.ID != id { // completed meanwhile, or an old page
		http.Redirect(w, r, page.Path, http.StatusSeeOther)
		return
	}
	values := page.read()
	if len(page.Errors) == 0 {
		switch err := h.store.Complete(token, id, values); {
		case err == nil:
			http.Redirect(w, r, page.Path+"?sent="+id, http.StatusSeeOther)
			return
		case errors.Is(err, ErrNotCurrent):
			http.Redirect(w, r, page.Path, http.StatusSeeOther)
			return
		default:
			page.Errors = []inputError{{"", err.Error()}}
		}
	}
	h.render(w, http.StatusUnprocessableEntity, "journey", page)
}

// read returns the values of the form by attribute. What is wrong is in Errors and
// beside the inputs afterwards. The document has no required attributes, but a
// completed activity has at least one.
func (p *journey) read() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	filled, boxes := false, 0
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if in.Kind == "checkbox" {
			boxes++
			filled = filled || in.Checked
			values[in.ID] = jsonOf(in.Checked)
			continue
		}
		text := strings.TrimSpace(strings.ReplaceAll(in.Typed, "\r\n", "\n"))
		if text == "" {
			continue
		}
		filled = true
		value, wrong := in.parse(text)
		if wrong != "" {
			in.Error = wrong
			p.Errors = append(p.Errors, inputError{"field-" + in.ID, wrong})
			continue
		}
		values[in.ID] = value
	}
	if !filled && boxes < len(p.Inputs) {
		p.Errors = append(p.Errors, inputError{"field-" + p.Inputs[0].ID, "Fill in at least one field."})
	}
	return values
}

// newInput returns the empty field of an attribute, as its data type asks.
func newInput(a Attribute) input {
	in := input{Attribute: a, Kind: "text"}
	switch a.DataType {
	case "TextArea":
		in.Kind = "textarea"
	case "Checkbox":
		in.Kind = "checkbox"
	case "Date":
		in.Kind = "date"
	case "DateTime":
		in.Kind, in.Hint = "datetime-local", "Date and time in UTC."
	case "Number":
		in.Kind, in.Hint = "number", "In digits, such as 12.5."
	case "Currency":
		in.Kind, in.Hint = "number", "An amount in digits, such as 1234.50."
	case "DropDown":
		if len(a.Options) > 0 {
			in.Kind = "select"
		} else {
			in.Hint = "The reference data list no options, so any text can be entered."
		}
	}
	return in
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// parse returns the JSON value of a text that is not empty, or what is wrong with
// it.
func (in input) parse(text string) (value json.RawMessage, wrong string) {
	name := "“" + in.Name + "”"
	switch in.DataType {
	case "Date":
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			return jsonOf(day.Format(time.RFC3339)), ""
		}
		return nil, name + " must be a date of the calendar, such as 1980-05-01."
	case "DateTime":
		for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
			if moment, err := time.Parse(layout, text); err == nil {
				return jsonOf(moment.Format(time.RFC3339)), ""
			}
		}
		return nil, name + " must be a date and a time, such as 2026-03-01T09:30."
	case "Number", "Currency":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !number.MatchString(text) {
			return nil, name + " must be a number in digits and a point, such as 1234.50."
		}
		return json.RawMessage(withoutLeadingZeros(text)), ""
	case "DropDown":
		if len(in.Options) > 0 && !slices.Contains(in.Options, text) {
			return nil, name + " must be one of the options."
		}
	}
	return jsonOf(text), ""
}

// withoutLeadingZeros makes a number that matches number one of JSON.
func withoutLeadingZeros(text string) string {
	digits, negative := strings.CutPrefix(text, "-")
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || digits[0] == '.' {
		digits = "0" + digits
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// jsonOf returns a bool or a text as JSON.
func jsonOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // bools and texts always have a form in JSON
	}
	return raw
}
