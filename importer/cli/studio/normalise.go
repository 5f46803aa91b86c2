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

// put returns the operation that makes the value of one the value at a path. What the value
// stands in, and is not there yet, is put with it.
func put(doc *yamlpatch.Document, op yamlpatch.Operation, path []string) yamlpatch.Operation {
	holder, name := path[:len(path)-1], path[len(path)-1]
	_, isThere := doc.Value(path...)
	around, hasHolder := doc.Value(holder...)
	_, err := strconv.Atoi(name)
	isEntry := (err == nil || name == "-" || strings.HasPrefix(name, byTemplate)) && len(holder) > 0 && slices.Contains(lists, holder[len(holder)-1])
	switch {
	case isList(doc, holder) && !isThere:
		if op.Op = "add"; isEntry {
			path = append(slices.Clone(holder), "-")
		}
	case isList(doc, holder):
	case isThere:
		op.Op = "replace"
	case name == "-" && len(holder) > 0 && slices.Contains(textLists, holder[len(holder)-1]): // a list that is not there, or is a text alone
		texts := []byte("[")
		if hasHolder && string(around) != "null" {
			texts = slices.Concat(texts, around, []byte(","))
		}
		op.Value = slices.Concat(texts, op.Value, []byte("]"))
		return put(doc, op, holder)
	case hasHolder || len(holder) == 0:
		op.Op = "add"
	case isEntry:
		op.Value = slices.Concat([]byte("["), op.Value, []byte("]"))
		return put(doc, op, holder)
	default:
		var template []byte // of a new activity, whose first member this is
		if of, ok := strings.CutPrefix(holder[len(holder)-1], byTemplate); ok && holder[0] == "activities" && len(holder) == 2 {
			template = slices.Concat([]byte(`"template":`), cell.QuoteJSON(of), []byte(","))
		}
		op.Value = slices.Concat([]byte("{"), template, cell.QuoteJSON(name), []byte(":"), op.Value, []byte("}"))
		return put(doc, op, holder)
	}
	op.Path = yamlpatch.Pointer(path...)
	return op
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
