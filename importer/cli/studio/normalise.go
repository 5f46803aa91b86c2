package studio

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/yamlpatch"
)

// optional are objects that mean nothing when they are empty.
var optional = []string{"lookup", "attributes", "values", "sheet", "workflow", "columns", "numbers"}

// lists are keys whose value is a list of objects.
var lists = []string{"activities", "claims", "contacts"}

// textLists are keys whose value is a list of texts, or one of them alone. Below other keys
// “-” is a text like any other: that of a value table, or a name.
var textLists = []string{"empty", "first_of", "join", "key", "format", "checked", "unchecked", "claimants"}

// byTemplate begins a part of a path that names an activity by its template, which the
// mapping may not have yet: /activities/template=Your details/attributes/Title.
const byTemplate = "template="

// normalise returns the operation that does to the file what a page asks for. What an
// added value stands in is made with it, and what a removed one leaves empty goes too.
func normalise(doc *yamlpatch.Document, op yamlpatch.Operation) yamlpatch.Operation {
	path := resolve(doc, tokens(op.Path))
	switch {
	case op.Op == "remove":
		for len(path) > 1 && len(doc.Keys(path[:len(path)-1]...)) == 1 {
			holder := path[:len(path)-1]
			name := holder[len(holder)-1]
			if !slices.Contains(optional, name) && !(slices.Contains(textLists, name) && isList(doc, holder)) {
				break
			}
			path = holder
		}
	case (op.Op == "add" || op.Op == "replace") && len(path) > 0:
		return put(doc, op, path)
	}
	op.Path = yamlpatch.Pointer(path...)
	return op
}

// put returns the operation that makes the value of one the value at a path.
func put(doc *yamlpatch.Document, op yamlpatch.Operation, path []string) yamlpatch.Operation {
	there := 0 // how much of the path exists
	for there < len(path) {
		if _, ok := doc.Value(path[:there+1]...); !ok {
			break
		}
		there++
	}
	last := len(path) - 1
	if there > last || path[last] == "-" && isList(doc, path[:last]) {
		op.Path = yamlpatch.Pointer(path...)
		if !isList(doc, path[:last]) {
			op.Op = "replace"
		}
		return op
	}
	if last > 0 && path[last] == "-" && slices.Contains(textLists, path[last-1]) { // a list that is not there, or is a text alone
		before := []byte("[")
		if alone, ok := doc.Value(path[:last]...); ok && string(alone) != "null" {
			before = slices.Concat(before, alone, []byte(","))
		}
		return put(doc, yamlpatch.Operation{Op: "add", Value: slices.Concat(before, op.Value, []byte("]"))}, path[:last])
	}
	value := op.Value
	isEntry := func(i int) bool { // whether a part of the path is the place of a new entry
		_, err := strconv.Atoi(path[i])
		return (err == nil || path[i] == "-" || strings.HasPrefix(path[i], byTemplate)) && i > 0 && slices.Contains(lists, path[i-1])
	}
	for i := last; i > there; i-- {
		if isEntry(i) {
			value = slices.Concat([]byte("["), value, []byte("]"))
			continue
		}
		var template []byte // of the new activity that this is the first part of
		if name, ok := strings.CutPrefix(path[i-1], byTemplate); ok && isEntry(i-1) {
			template = slices.Concat([]byte(`"template":`), cell.QuoteJSON(name), []byte(","))
		}
		value = slices.Concat([]byte("{"), template, cell.QuoteJSON(path[i]), []byte(":"), value, []byte("}"))
	}
	path = slices.Clone(path[:there+1])
	if isEntry(there) {
		path[there] = "-"
	}
	return yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer(path...), Value: value}
}

// resolve replaces an activity that is named by its template by its place in the list; one
// that is not there stays named.
func resolve(doc *yamlpatch.Document, path []string) []string {
	if len(path) < 2 || path[0] != "activities" || !strings.HasPrefix(path[1], byTemplate) {
		return path
	}
	for _, entry := range doc.Keys("activities") {
		if there, _ := doc.Value("activities", entry, "template"); textOf(there) == strings.TrimPrefix(path[1], byTemplate) {
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
