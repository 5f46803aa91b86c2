package studio

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/yamlpatch"
)

// optional are objects that mean nothing when they are empty.
var optional = []string{"lookup", "attributes", "values", "sheet", "workflow", "columns", "numbers"}

// lists are keys whose value is a list of objects.
var lists = []string{"activities", "claims", "contacts"}

// normalise returns the operation that does to the file what a page asks for.
func normalise(doc *yamlpatch.Document, service *mapping.Service, op yamlpatch.Operation) yamlpatch.Operation {
	path := resolve(doc, tokens(op.Path))
	op.Path = yamlpatch.Pointer(path...)
	if op.Op == "remove" {
		for len(path) > 1 && len(doc.Keys(path[:len(path)-1]...)) == 1 {
			holder := path[:len(path)-1]
			name := holder[len(holder)-1]
			if !slices.Contains(optional, name) && !(slices.Contains(textLists, name) && isList(doc, holder)) {
				break
			}
			path = holder
		}
		op.Path = yamlpatch.Pointer(path...)
		return op
	}
	if op.Op != "add" && op.Op != "replace" || len(path) == 0 {
		return op
	}
	if op, ok := normaliseList(doc, service, op, path); ok {
		return op
	}
	there := 0 // how much of the path exists
	for there < len(path) {
		if _, ok := doc.Value(path[:there+1]...); !ok {
			break
		}
		there++
	}
	if there == len(path) {
		if parent := path[:len(path)-1]; !isList(doc, parent) {
			op.Op = "replace"
		}
		return op
	}
	isEntry := func(i int) bool { // whether a part of the path is the place of a new entry
		_, err := strconv.Atoi(path[i])
		return (err == nil || path[i] == "-" || strings.HasPrefix(path[i], byTemplate)) && i > 0 && slices.Contains(lists, path[i-1])
	}
	value := op.Value
	for i := len(path) - 1; i > there; i-- {
		if isEntry(i) {
			value = slices.Concat([]byte("["), value, []byte("]"))
			continue
		}
		template := []byte(nil) // of the new activity that this is the first part of
		if name, ok := strings.CutPrefix(path[i-1], byTemplate); ok && isEntry(i-1) {
			template = slices.Concat([]byte(`"template":`), cell.QuoteJSON(name), []byte(","))
		}
		value = slices.Concat([]byte("{"), template, cell.QuoteJSON(path[i]), []byte(":"), value, []byte("}"))
	}
	path = slices.Clone(path[:there+1])
	if isEntry(there) {
		path[there] = "-"
	}
	op.Op, op.Path, op.Value = "add", yamlpatch.Pointer(path...), value
	if op.After == "" && !isEntry(there) {
		op.After = keyBefore(doc, service, path)
	}
	return op
}

// usualOrder is the order in which people write the keys of a mapping, of an entry of
// its lists, and of its sections.
var usualOrder = map[string][]string{
	"":           {"name", "api", "claim_type", "sheet", "client", "contacts", "claims", "workflow", "link", "resume_at", "activities"},
	"client":     {"key", "known_id", "key_space", "existing", "existing_activities", "administrator", "lookup", "fields"},
	"contacts":   {"id", "when", "key", "key_space", "administrator", "lookup", "fields"},
	"claims":     {"id", "key", "known_id", "name", "create", "administrator", "claimants", "when", "columns"},
	"activities": {"template", "id", "on", "status", "assigned", "when", "workflow", "attributes"},
	"lookup":     {"email", "phone", "mode"},
}

// keyBefore returns the key of an object behind which a new one usually stands; "" for
// the end.
func keyBefore(doc *yamlpatch.Document, service *mapping.Service, path []string) string {
	parent := path[:len(path)-1]
	of := ""
	if len(parent) > 0 {
		of = parent[len(parent)-1]
	}
	if len(parent) == 2 && slices.Contains(lists, parent[0]) {
		of = parent[0]
	}
	order := usualOrder[of]
	if service != nil && len(parent) == 3 && parent[0] == "activities" && of == "attributes" {
		name, _ := doc.Value("activities", parent[1], "template")
		at := slices.IndexFunc(service.Templates, func(t mapping.Template) bool { return t.Name == textOf(name) })
		if at >= 0 {
			order = nil
			for _, a := range service.Templates[at].Attributes {
				order = append(order, a.Name)
			}
		}
	}
	there := doc.Keys(parent...)
	last := -1 // of the keys before it in that order, the last in the file
	for _, key := range order {
		if key == path[len(path)-1] {
			if last >= 0 {
				return there[last]
			}
			break
		}
		last = max(last, slices.Index(there, key))
	}
	return ""
}

// textLists are keys whose value is a list of texts, or one of them alone. Below other keys
// “-” is a text like any other: that of a value table, or a name.
var textLists = []string{"empty", "first_of", "join", "key", "format", "checked", "unchecked", "claimants"}

// normaliseList returns the operation that adds a text to a list that the file does not have,
// or has as a text alone; ok is false for other operations.
func normaliseList(doc *yamlpatch.Document, service *mapping.Service, op yamlpatch.Operation, path []string) (yamlpatch.Operation, bool) {
	last := len(path) - 1
	if path[last] != "-" || last == 0 || !slices.Contains(textLists, path[last-1]) {
		return op, false
	}
	value := slices.Concat([]byte("["), op.Value, []byte("]"))
	switch alone, ok := doc.Value(path[:last]...); {
	case ok && (alone[0] == '[' || alone[0] == '{'):
		return op, false
	case ok && string(alone) != "null":
		value = slices.Concat([]byte("["), alone, []byte(","), op.Value, []byte("]"))
	}
	return normalise(doc, service, yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer(path[:last]...), Value: value}), true
}

// byTemplate begins a part of a path that names an activity by its template, which the
// mapping may not have yet: /activities/template=Your details/attributes/Title.
const byTemplate = "template="

// resolve replaces an activity that is named by its template by its place in the list; one
// that is not there stays named.
func resolve(doc *yamlpatch.Document, path []string) []string {
	if len(path) < 2 || path[0] != "activities" || !strings.HasPrefix(path[1], byTemplate) {
		return path
	}
	name := strings.TrimPrefix(path[1], byTemplate)
	for _, entry := range doc.Keys("activities") {
		if there, _ := doc.Value("activities", entry, "template"); textOf(there) == name {
			path = slices.Clone(path)
			path[1] = entry
			return path
		}
	}
	return path
}

// textOf returns the text of a scalar, which a person may have written as a number; "" for
// other values.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil || len(value) == 0 || value[0] == '{' || value[0] == '[' {
		return text
	}
	return string(value)
}

func isList(doc *yamlpatch.Document, path []string) bool {
	value, ok := doc.Value(path...)
	return ok && len(value) > 0 && value[0] == '['
}

// tokens takes a JSON Pointer apart.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	list := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range list {
		list[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return list
}
