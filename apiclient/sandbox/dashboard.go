package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// maxRows is how many clients the list shows.
const maxRows = 1000

// list is the dashboard. It shows the newest clients first; a browser's own search finds one of them.
func (s *Service) list(*http.Request) page {
	found := len(s.state.clients)
	rows := slices.Clone(s.state.clients[max(0, found-maxRows):])
	slices.Reverse(rows)
	return page{http.StatusOK, "dashboard", map[string]any{"Path": s.dashboard, "Found": found, "Rows": rows}}
}

// file is the page of one client.
func (s *Service) file(r *http.Request) page {
	c := s.state.byID[r.PathValue("id")]
	if c == nil {
		return says(http.StatusNotFound, "There is no such client", "The sandbox holds other data now. Go back to the list.")(r)
	}
	return page{http.StatusOK, "client", map[string]any{"Path": s.dashboard, "Client": c}}
}

// field is one value of a create payload; the name of a nested one is dotted.
type field struct{ Name, Value string }

// Fields returns the values of the create payload, sorted by their names.
func (c *client) Fields() []field { return fieldsOf(c.Data, "") }

func fieldsOf(raw json.RawMessage, at string) (fields []field) {
	switch kindOf(raw) {
	case "object":
		o := new(input).object(raw, at)
		for _, name := range o.names() {
			fields = append(fields, fieldsOf(o.values[name], o.at(name))...)
		}
	case "array":
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // the payload was checked when the client was created
		for i, element := range list {
			fields = append(fields, fieldsOf(element, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case "string":
		fields = []field{{at, unquote(raw)}}
	default:
		fields = []field{{at, string(raw)}}
	}
	return fields
}

// Called returns what the client is called. The document does not show the names of
// the payload's fields: the values of those whose names contain "name" count, else the
// e-mail address.
func (c *client) Called() string {
	var parts []string
	for _, f := range c.Fields() {
		if strings.Contains(strings.ToLower(f.Name), "name") && strings.TrimSpace(f.Value) != "" {
			parts = append(parts, f.Value)
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case c.Email() != "":
		return c.Email()
	}
	return "(no name)"
}

// Email returns the first e-mail address of the payload; "" for none.
func (c *client) Email() string {
	for _, f := range c.Fields() {
		if strings.Contains(strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '.')+1:]), "mail") {
			return f.Value
		}
	}
	return ""
}

// Token returns the last part of the redirect url that was handed out last; "" for none.
func (c *client) Token() string {
	url := c.RedirectURL
	if n := len(c.links); n > 0 {
		url = c.links[n-1].RedirectURL
	}
	if url == "" {
		return ""
	}
	return path.Base(url)
}

// Values returns the attributes of the activity: what a client has entered, or what it
// was created with.
func (a *activity) Values() []attributeRecord {
	if a.Entry != nil {
		return a.Entry.Attributes
	}
	return a.Attributes
}
