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

// Wire says where answers hold what the document leaves open: a path into the JSON
// body such as /data/0/id, a header such as header:Location (for an id, the end of
// a path), "text" for the whole body as plain text, or "string" for the whole body
// as a JSON string.
type Wire struct {
	ClientID    string
	ContactID   string
	ClaimID     string
	ActivityID  string // "": the answer has no id
	RedirectURL string
	LookupID    string // "": as in the answer of a create
	DataType    string // on an attribute template; "": the service does not report it
	Numeric     bool   // ids are JSON numbers
	Named       bool   // ids are contact-1, claim-2 and so on, numbered by kind; urls end with link-1
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

// JSON returns an answer with a JSON body.
func JSON(status int, body string) Reply { return Reply{Status: status, Body: body} }

// HTML returns a web page, such as that of a proxy, a portal or a login.
func HTML(status int) Reply {
	return Reply{
		Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!doctype html><html><body><h1>Welcome</h1></body></html>",
	}
}

// answer returns an answer with the JSON of a value.
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

// write sends the answer. With cut it sends the head and half of the body, then
// closes the connection.
func (r Reply) write(w http.ResponseWriter, cut bool) {
	w.Header().Set("Content-Type", "application/json")
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		w.Header().Set(name, r.Header[name])
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(r.Body)))
	w.WriteHeader(r.Status)
	if !cut {
		_, _ = w.Write([]byte(r.Body)) // the client may be gone
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

// reply returns an answer with values at places of Wire. In a Location an id ends a path.
func reply(status int, values map[string]any) Reply {
	r := Reply{Status: status, Header: map[string]string{}}
	fields := map[string]any{}
	for place, value := range values {
		switch name, isHeader := strings.CutPrefix(place, "header:"); {
		case isHeader && strings.HasSuffix(name, "Location") && !strings.Contains(fmt.Sprint(value), "://"):
			r.Header[name] = fmt.Sprint("/made/", value)
		case isHeader:
			r.Header[name] = fmt.Sprint(value)
		case place == "text":
			r.Header["Content-Type"], r.Body = "text/plain", fmt.Sprintln(value)
		case place == "string":
			r.Body = answer(status, value).Body
		default:
			wrap(fields, strings.Split(strings.TrimPrefix(place, "/"), "/"), value)
		}
	}
	if r.Body == "" && len(fields) > 0 {
		r.Body = answer(status, fields).Body
	}
	return r
}

// wrap puts a value at a path below a JSON value, which it returns, and creates the objects and arrays on the way.
func wrap(there any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		list, _ := there.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = wrap(list[i], path[1:], value)
		return list
	}
	object, ok := there.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[path[0]] = wrap(object[path[0]], path[1:], value)
	return object
}
