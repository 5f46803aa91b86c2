package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// template is an activity template, as far as a test client needs it.
type template struct {
	id         string
	attributes []attribute
}

type attribute struct {
	id       string
	fields   map[string]any
	dataType string // "" for none that is known
}

// tryTemplates reads the reference data. Without them nothing else makes sense.
func (s *suite) tryTemplates() {
	c := Case{Name: "activity templates", Section: "Activity template (reference data, read only; v1 and v2)",
		Expected: "an array of objects with id (UUID), name and activityAttributeTemplates, whose elements have id (UUID) and name"}
	a, ok := s.try(&c, request{method: http.MethodGet, pattern: s.root() + "/activity-templates"})
	if !ok {
		return
	}
	s.listed = a
	list, isList := a.doc.([]any)
	switch {
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		s.stopped = "the templates cannot be read"
		s.add(c, NotTried, "the service does not accept the credentials: check auth, and case_id under version 1")
	case !a.ok() || a.isPage() || !a.isJSON:
		s.stopped = "the templates cannot be read"
		s.add(c, Differs, "check base_url, which ends before /funnel, and case_id under version 1")
	case !isList:
		s.add(c, Differs, "Claimsheet reads an array only, and no key of the environment describes another place: ask the service's operator")
	default:
		if wrong := s.readTemplates(list); wrong != "" {
			s.add(c, Differs, wrong)
		} else if len(list) == 0 {
			s.add(c, Differs, "there are none: templates belong to an environment and a claim type, so check base_url and case_id")
		} else {
			s.add(c, AsDocumented, "")
		}
		s.tryDataTypes()
	}
}

// readTemplates reads the templates and returns what is wrong with the first that differs.
func (s *suite) readTemplates(list []any) (wrong string) {
	note := func(format string, args ...any) {
		if wrong == "" {
			wrong = fmt.Sprintf(format, args...)
		}
	}
	for i, item := range list {
		at := fmt.Sprintf("/%d", i)
		t := template{id: checkNamed(item, at, note)}
		fields, _ := item.(map[string]any)
		nested, ok := fields["activityAttributeTemplates"].([]any)
		if !ok {
			note("%s/activityAttributeTemplates is no array", at)
		}
		for j, item := range nested {
			fields, _ := item.(map[string]any)
			t.attributes = append(t.attributes, attribute{id: checkNamed(item, fmt.Sprintf("%s/activityAttributeTemplates/%d", at, j), note), fields: fields})
		}
		s.templates = append(s.templates, t)
	}
	return wrong
}

// checkNamed notes what is wrong with an object that has an id and a name, and returns
// the id.
func checkNamed(item any, at string, note func(string, ...any)) string {
	fields, ok := item.(map[string]any)
	id, isText := fields["id"].(string)
	name, _ := fields["name"].(string)
	switch {
	case !ok:
		note("%s is no object", at)
	case fields["id"] == nil || !isText && formOf(fields["id"], 0) != "a number":
		note("%s has no id", at)
	case !uuidText.MatchString(id):
		note("%s/id is no UUID; Claimsheet takes any id", at)
	}
	if ok && strings.TrimSpace(name) == "" {
		note("%s has no name", at)
	}
	if !isText && fields["id"] != nil {
		return fmt.Sprint(fields["id"])
	}
	return id
}

// dataTypes are the document's.
var dataTypes = []string{"Text", "TextArea", "DropDown", "Checkbox", "Date", "DateTime", "Number", "Currency"}

// dataType returns the document's name of a data type, whatever its case; "" for none.
func dataType(value any) string {
	text, _ := value.(string)
	if i := slices.IndexFunc(dataTypes, func(d string) bool { return strings.EqualFold(d, text) }); i >= 0 {
		return dataTypes[i]
	}
	return ""
}

// tryDataTypes finds out where attribute templates carry their data types.
func (s *suite) tryDataTypes() {
	c := Case{Name: "data types of attributes", Section: "Activity attribute template (nested in an activity template)",
		Request: "the same answer", Expected: "each attribute template has a data type; where it stands is not shown"}
	named, strange := map[string]int{}, map[string]bool{} // how many known types are at a pointer; pointers with others
	attributes := 0
	for a := range s.attributes() {
		attributes++
		for _, l := range leaves(a.fields) {
			if _, isText := l.value.(string); !isText || !strings.Contains(plainly(l.name+l.parent), "type") {
				continue
			}
			if dataType(l.value) != "" {
				named[l.pointer]++
			} else {
				strange[l.pointer] = true
			}
		}
	}
	pointers := slices.SortedFunc(maps.Keys(named), func(a, b string) int { return named[b] - named[a] })
	place := ""
	if len(pointers) > 0 {
		place = pointers[0]
	}
	switch {
	case attributes == 0:
		s.add(c, NotTried, "no template has an attribute")
	case place == "" && len(strange) > 0:
		pointer := slices.Sorted(maps.Keys(strange))[0]
		c.Came = "names at " + pointer + " that the document does not have"
		s.add(c, Differs, "if these are the data types, set wire.data_types to the service's names and the document's, and wire.data_type to "+pointer)
	case place == "":
		c.Came = "no data types"
		s.add(c, NotShown, "nothing is to be set in the environment; in the mapping, give each attribute its type")
	default:
		c.Came = fmt.Sprintf("%d of %d attributes have one of the document's at %s", named[place], attributes, place)
		note := s.placeOf("data_type", place, "/dataType", "the attributes of the templates have the names of the document's data types there")
		if strange[place] {
			note += "; other names there need wire.data_types"
		}
		s.add(c, NotShown, note)
	}
	for i := range s.templates {
		for j, a := range s.templates[i].attributes {
			if value, ok := at(answer{doc: a.fields}, place); ok && place != "" {
				s.templates[i].attributes[j].dataType = dataType(value)
			}
		}
	}
}

// attributes yields the attributes of all templates.
func (s *suite) attributes() func(yield func(attribute) bool) {
	return func(yield func(attribute) bool) {
		for _, t := range s.templates {
			for _, a := range t.attributes {
				if !yield(a) {
					return
				}
			}
		}
	}
}
