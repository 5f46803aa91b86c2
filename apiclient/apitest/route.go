package apitest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// route finds what a call asks for (document, section "Endpoints"), and fills
// in the call's kind, client and step.
func (s *Server) route(call *Call, r *http.Request) action {
	parts, err := segments(call.Path)
	query := r.URL.Query()
	if err != nil || len(parts) < 3 || parts[0] != "funnel" {
		return unknown
	}
	switch rest := parts[2:]; {
	case parts[1] == "v1" && rest[0] == "cases" && len(rest) > 2 && rest[1] != "":
		return s.routeV1(call, rest[2:], query)
	case parts[1] == "v2":
		return s.routeV2(call, rest, query)
	}
	return unknown
}

func (s *Server) routeV1(call *Call, rest []string, query url.Values) action {
	switch line := call.Method + " " + rest[0]; {
	case line == "GET activity-templates" && len(rest) == 1:
		return s.list(call)
	case line == "GET clients" && len(rest) == 3:
		return s.lookUp(call, rest[1], rest[2], s.Wire.ClientID)
	case line == "POST clients" && len(rest) == 1:
		return s.createClient(call, query, true)
	case line == "POST clients" && len(rest) == 3 && rest[2] == "activities":
		return s.createActivity(call, activityV1, rest[1], "")
	}
	return unknown
}

func (s *Server) routeV2(call *Call, rest []string, query url.Values) action {
	switch line := call.Method + " " + rest[0]; {
	case line == "GET activity-templates" && len(rest) == 1:
		return s.list(call)
	case line == "GET contacts" && len(rest) == 3:
		return s.lookUp(call, rest[1], rest[2], s.Wire.ContactID)
	case line == "POST contacts" && len(rest) == 1:
		return s.createClient(call, query, false)
	case line == "POST claims" && len(rest) == 1:
		return s.createClaim(call)
	case line == "POST activities" && len(rest) == 1:
		return s.createActivity(call, activityV2, query.Get("contactId"), query.Get("claimId"))
	case line == "POST contacts" && len(rest) == 3 && rest[2] == "magic-link":
		return s.createLink(call, rest[1])
	}
	return unknown
}

// segments are a path's parts, unescaped one by one: a part may hold a slash.
func segments(path string) ([]string, error) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func unknown(*Call) (Reply, error) {
	return refusal(http.StatusNotFound, "no such endpoint"), errors.New("the document has no such endpoint")
}

// list is the reference data.
func (s *Server) list(call *Call) action {
	call.Kind = "templates"
	return func(*Call) (Reply, error) {
		list := []any{}
		for _, t := range s.templates {
			attributes := []any{}
			for _, a := range t.Attributes {
				one := map[string]any{"id": a.ID, "name": a.Name}
				if s.Wire.DataType != "" && a.DataType != "" {
					put(one, s.Wire.DataType, a.DataType)
				}
				attributes = append(attributes, one)
			}
			list = append(list, map[string]any{"id": t.ID, "name": t.Name, "activityAttributeTemplates": attributes})
		}
		return answer(http.StatusOK, list), nil
	}
}

// lookUp finds a client by e-mail or phone.
func (s *Server) lookUp(call *Call, by, value, pointer string) action {
	var is func(*client) bool
	switch by {
	case "by-email":
		is = func(c *client) bool { return sameEmail(c.email, value) }
	case "by-phone":
		is = func(c *client) bool { return c.phone != "" && c.phone == value }
	default:
		return unknown
	}
	call.Kind = "lookup"
	if s.Wire.LookupID != "" {
		pointer = s.Wire.LookupID
	}
	return func(*Call) (Reply, error) {
		c := s.clientBy(is)
		if c == nil {
			return s.Nobody, nil
		}
		found := words{}
		found.putID(pointer, s.idValue(c.id))
		return found.reply(http.StatusOK), nil
	}
}
