package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Wire is where answers carry what the document leaves open: names from the
// outside in, each after a slash, a number standing for an element of an array;
// or a header ("header:Location", an id as the end of a path), the whole body as
// text ("text") or as a JSON string ("string").
type Wire struct {
	ClientID    string
	ContactID   string
	ClaimID     string
	ActivityID  string // "": an activity's answer has no id
	RedirectURL string
	LookupID    string // "": as in the answer of the create
	DataType    string // on an attribute template; "": the service does not tell
	Numeric     bool   // ids are JSON numbers
	Origin      string // redirect urls are of this host, and the answers give them without it; "": they are whole
}

// DefaultWire names the fields as the document does.
func DefaultWire() Wire {
	return Wire{
		ClientID: "/clientId", ContactID: "/contactId", ClaimID: "/claimId",
		RedirectURL: "/redirectUrl", DataType: "/dataType",
	}
}

// Reply is an answer.
type Reply struct {
	Status int
	Header map[string]string // Content-Type is application/json unless it is set here
	Body   string
}

// JSON is an answer with a JSON body.
func JSON(status int, body string) Reply { return Reply{Status: status, Body: body} }

// HTML is what a proxy, a portal or a login page says.
func HTML(status int) Reply {
	return Reply{
		Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!doctype html><html><body><h1>Welcome</h1></body></html>",
	}
}

// answer is a JSON answer of any value.
func answer(status int, value any) Reply {
	body, err := json.Marshal(value)
	if err != nil {
		panic("apitest: plain data that does not marshal: " + err.Error())
	}
	return JSON(status, string(body))
}

func refusal(status int, message string) Reply {
	return answer(status, map[string]string{"message": message})
}

// refuse answers a call that breaks the document's rules, and complains.
func refuse(why string) (Reply, error) {
	return refusal(http.StatusBadRequest, why), errors.New(why)
}

// write sends the answer; cut sends the head, half of the body, and closes the
// connection.
func (r Reply) write(w http.ResponseWriter, cut bool) {
	w.Header().Set("Content-Type", "application/json")
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		w.Header().Set(name, r.Header[name])
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(r.Body)))
	w.WriteHeader(r.Status)
	if !cut {
		_, _ = w.Write([]byte(r.Body)) // the caller may be gone
		return
	}
	_, _ = w.Write([]byte(r.Body[:len(r.Body)/2]))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (s *Server) idValue(id string) any {
	if s.Wire.Numeric {
		return json.Number(id)
	}
	return id
}

// urlValue is a redirect url as answers give it.
func (s *Server) urlValue(url string) string { return strings.TrimPrefix(url, s.Wire.Origin) }

// words are what an answer says.
type words struct {
	header map[string]string
	fields map[string]any
	whole  *Reply // the whole body is one value
}

// put says a value at a place of Wire.
func (w *words) put(place string, value any) {
	name, isHeader := strings.CutPrefix(place, "header:")
	switch {
	case isHeader && w.header == nil:
		w.header = map[string]string{name: fmt.Sprint(value)}
	case isHeader:
		w.header[name] = fmt.Sprint(value)
	case place == "text":
		w.whole = &Reply{Header: map[string]string{"Content-Type": "text/plain"}, Body: fmt.Sprintln(value)}
	case place == "string":
		w.whole = new(answer(0, value))
	default:
		if w.fields == nil {
			w.fields = map[string]any{}
		}
		put(w.fields, place, value)
	}
}

// putID is put for ids, which a Location does not hold alone.
func (w *words) putID(place string, value any) {
	if place == "header:Location" {
		value = fmt.Sprint("/made/", value)
	}
	w.put(place, value)
}

func (w *words) reply(status int) Reply {
	r := Reply{}
	switch {
	case w.whole != nil:
		r = *w.whole
	case w.fields != nil:
		r = answer(status, w.fields)
	}
	r.Status = status
	for name, value := range w.header {
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		r.Header[name] = value
	}
	return r
}

// put sets the value at a pointer, making the objects and arrays on its way.
func put(root map[string]any, pointer string, value any) {
	names := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	root[names[0]] = wrap(root[names[0]], names[1:], value)
}

func wrap(there any, names []string, value any) any {
	if len(names) == 0 {
		return value
	}
	if i, err := strconv.Atoi(names[0]); err == nil {
		list, _ := there.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = wrap(list[i], names[1:], value)
		return list
	}
	object, ok := there.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[names[0]] = wrap(object[names[0]], names[1:], value)
	return object
}
