package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// style writes new text as the first mapping of init is written.
var style = yamlpatch.Style{Block: []string{"sheet", "client", "lookup", "fields", "attributes", "workflow", "values"}}

// change makes a change for the version that a page has seen, and returns the state.
// The caller does not hold the lock.
func (s *Server) change(version int, do func() error) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version != s.session.version {
		return nil, errStale
	}
	if err := do(); err != nil {
		return nil, err
	}
	s.refresh()
	return s.state(), nil
}

// mostLabel is how many characters a label of the history may have.
const mostLabel = 200

func (s *Server) postPatch(r *http.Request) (any, error) {
	var in struct {
		Version    int                   `json:"version"`
		Label      string                `json:"label"`
		Operations []yamlpatch.Operation `json:"operations"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if r := []rune(in.Label); len(r) > mostLabel {
		in.Label = string(r[:mostLabel])
	}
	return s.change(in.Version, func() error {
		text, err := apply(s.session.text(), s.options.Service, in.Operations)
		if err == nil {
			s.session.change(in.Label, answered(text, in.Operations))
		}
		return err
	})
}

// apply applies operations to a text, one after the other. An operation whose object or
// list is not there yet makes it first, and one that leaves an object of values empty
// removes that too, so that a page need not know what the file has. New attributes go to
// their places in the order of the service's template, if that is known.
func apply(text []byte, service *mapping.Service, operations []yamlpatch.Operation) ([]byte, error) {
	for _, op := range operations {
		doc, err := yamlpatch.Read(text)
		if err != nil {
			return nil, failure{http.StatusUnprocessableEntity, "not-yaml", err.Error(), "correct the file in the pane with its text first"}
		}
		op = normalise(doc, service, op)
		if text, err = yamlpatch.Apply(text, style, op); err != nil {
			return nil, failure{http.StatusUnprocessableEntity, "cannot-patch", err.Error(), "change it in the pane with the file's text"}
		}
	}
	if len(text) > mapping.MaxSize {
		return nil, failure{http.StatusUnprocessableEntity, "too-large", "the mapping would be larger than 1 MiB", ""}
	}
	return text, nil
}

// question matches the comment of a first mapping that asks for a decision.
var question = regexp.MustCompile(`#.*\bDECIDE: (.*)$`)

// postDecide takes a question out of the text: it is answered.
func (s *Server) postDecide(r *http.Request) (any, error) {
	var in struct {
		Version int `json:"version"`
		Line    int `json:"line"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		text, ok := withoutQuestion(s.session.text(), in.Line)
		if !ok {
			return failure{http.StatusUnprocessableEntity, "no-question", "there is no question in this line", ""}
		}
		s.session.change("a question is answered", text)
		return nil
	})
}

// withoutQuestion takes the question of a line away; a line that is nothing else goes too.
// ok is false when there is none, or when it is no comment: the file must say the same
// without it.
func withoutQuestion(text []byte, n int) (without []byte, ok bool) {
	all := strings.SplitAfter(string(text), "\n")
	if n < 1 || n > len(all) {
		return nil, false
	}
	line := strings.TrimRight(all[n-1], "\r\n")
	found := question.FindStringIndex(line)
	if found == nil {
		return nil, false
	}
	end := all[n-1][len(line):]
	if line = strings.TrimRight(line[:found[0]], " "); line == "" {
		end = ""
	}
	all[n-1] = line + end
	without = []byte(strings.Join(all, ""))
	before, err := yamlpatch.Read(text)
	after, other := yamlpatch.Read(without)
	if err != nil || other != nil {
		return nil, false
	}
	said, _ := before.Value()
	says, _ := after.Value()
	return without, string(said) == string(says)
}

// answered takes the questions away that operations have answered: those about a rule that
// they changed, in whole or in part. Questions about a section stay.
func answered(text []byte, operations []yamlpatch.Operation) []byte {
	doc, err := yamlpatch.Read(text)
	if err != nil {
		return text
	}
	list := questions(doc, text)
	for _, q := range slices.Backward(list) { // from below, so that the lines above stay where they are
		path := tokens(q.Path)
		isRule := len(path) > 1 && slices.Contains([]string{"attributes", "fields"}, path[len(path)-2])
		if slices.ContainsFunc(operations, func(op yamlpatch.Operation) bool {
			return q.Path != "" && (op.Path == q.Path || isRule && strings.HasPrefix(op.Path, q.Path+"/"))
		}) {
			if without, ok := withoutQuestion(text, q.Line); ok {
				text = without
			}
		}
	}
	return text
}

// optional are objects that mean nothing when they are empty.
var optional = []string{"lookup", "attributes", "values", "sheet", "workflow", "columns", "numbers"}

// lists are keys whose value is a list of objects.
var lists = []string{"activities", "claims", "contacts"}

// normalise returns the operation that does to the file what a page asks for.
func normalise(doc *yamlpatch.Document, service *mapping.Service, op yamlpatch.Operation) yamlpatch.Operation {
	path := resolve(doc, tokens(op.Path))
	op.Path = yamlpatch.Pointer(path...)
	if op.Op == "remove" {
		for len(path) > 1 && slices.Contains(optional, path[len(path)-2]) && len(doc.Keys(path[:len(path)-1]...)) == 1 {
			path = path[:len(path)-1]
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
	"lookup":     {"email", "phone", "confirm"},
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
		for _, t := range service.Templates {
			if string(name) == string(cell.QuoteJSON(t.Name)) {
				for _, a := range t.Attributes {
					order = append(order, a.Name)
				}
				break
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

// normaliseList returns the operation that adds a text to a list that the file does not have,
// or has as a text alone; ok is false for other operations.
func normaliseList(doc *yamlpatch.Document, service *mapping.Service, op yamlpatch.Operation, path []string) (yamlpatch.Operation, bool) {
	last := len(path) - 1
	if path[last] != "-" || last == 0 || slices.Contains(lists, path[last-1]) || isList(doc, path[:last]) {
		return op, false
	}
	value := slices.Concat([]byte("["), op.Value, []byte("]"))
	if alone, ok := doc.Value(path[:last]...); ok && string(alone) != "null" {
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
	name := string(cell.QuoteJSON(strings.TrimPrefix(path[1], byTemplate)))
	for _, entry := range doc.Keys("activities") {
		if there, _ := doc.Value("activities", entry, "template"); string(there) == name {
			path = slices.Clone(path)
			path[1] = entry
			return path
		}
	}
	return path
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

func (s *Server) postText(r *http.Request) (any, error) {
	var in struct {
		Version int    `json:"version"`
		Text    string `json:"text"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		if len(in.Text) > mapping.MaxSize {
			return failure{http.StatusUnprocessableEntity, "too-large", "the mapping would be larger than 1 MiB", ""}
		}
		s.session.change("the text", []byte(in.Text))
		return nil
	})
}

// postGoTo goes to another revision of the history: the one before or after, or the one
// that “to” names by its version.
func (s *Server) postGoTo(r *http.Request) (any, error) {
	var in struct {
		Version int  `json:"version"`
		To      *int `json:"to"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		to := s.session.at - 1
		if strings.HasSuffix(r.URL.Path, "/redo") {
			to = s.session.at + 1
		}
		if in.To != nil {
			to = slices.IndexFunc(s.session.history, func(m revision) bool { return m.version == *in.To })
		}
		if to < 0 || to >= len(s.session.history) {
			return failure{http.StatusUnprocessableEntity, "no-such-version", "there is nothing to go to in the history", ""}
		}
		s.session.goTo(to)
		return nil
	})
}

func (s *Server) postSave(r *http.Request) (any, error) {
	var in struct {
		Version   int  `json:"version"`
		Overwrite bool `json:"overwrite"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error { return s.session.save(in.Overwrite) })
}

func (s *Server) postReload(r *http.Request) (any, error) {
	var in struct {
		Version int `json:"version"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		text, err := readFile(s.session.path)
		if err != nil {
			return err
		}
		if text == nil {
			return failure{http.StatusUnprocessableEntity, "no-file", "the file is not there any more", "save to write it again"}
		}
		s.session.file = text
		s.session.change("read from the disk", text)
		return nil
	})
}

// postDraft takes what an earlier session left unsaved, or throws it away.
func (s *Server) postDraft(r *http.Request) (any, error) {
	var in struct {
		Version int  `json:"version"`
		Take    bool `json:"take"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		text := s.session.unsavedBefore
		if text == nil {
			return failure{http.StatusUnprocessableEntity, "no-draft", "nothing was left unsaved", ""}
		}
		s.session.unsavedBefore = nil
		if in.Take {
			s.session.change("left unsaved before", text)
		} else {
			s.session.keep()
		}
		return nil
	})
}

// postSheet chooses the sheet and its header row, in the mapping.
func (s *Server) postSheet(r *http.Request) (any, error) {
	var in struct {
		Version   int    `json:"version"`
		Name      string `json:"name"`
		HeaderRow int    `json:"headerRow"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		if in.HeaderRow < 1 || in.HeaderRow > cell.MaxRows {
			return failure{http.StatusBadRequest, "bad-request", "the header row must be more than 0", ""}
		}
		doc, err := yamlpatch.Read(s.session.text())
		if err != nil {
			return failure{http.StatusUnprocessableEntity, "not-yaml", err.Error(), "correct the file in the pane with its text first"}
		}
		var operations []yamlpatch.Operation
		put := func(key string, isUsual bool, value any) {
			old, there := doc.Value("sheet", key)
			data, _ := json.Marshal(value) // a text or a number
			switch {
			case there && string(old) == string(data), !there && isUsual:
			default:
				operations = append(operations, yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer("sheet", key), Value: data})
			}
		}
		if names := s.now.book.sheetNames(); len(names) > 0 {
			put("name", in.Name == "" || in.Name == names[0], in.Name)
		}
		put("header_row", in.HeaderRow == 1, in.HeaderRow)
		text, err := apply(s.session.text(), s.options.Service, operations)
		if err == nil && len(operations) > 0 {
			s.session.change(fmt.Sprintf("the headers are in row %d of %s", in.HeaderRow, problem.OneLine(in.Name)), text)
		}
		return err
	})
}

// ignoredName is how an ignored line names a column.
func (b *book) ignoredName(c *column) string { return mapping.IgnoredName(b.tables[0], c.index) }

func (s *Server) postIgnore(r *http.Request) (any, error) {
	var in struct {
		Version int    `json:"version"`
		Column  string `json:"column"`
		Ignored bool   `json:"ignored"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.Version, func() error {
		c := s.now.book.column(in.Column)
		if c == nil {
			return failure{http.StatusNotFound, "no-such-column", "the sheet has no such column", ""}
		}
		name, text := s.now.book.ignoredName(c), s.session.text()
		is := s.now.mapping.Ignores(name)
		switch {
		case in.Ignored && !is:
			s.session.change(name+" is left out", mapping.Ignore(text, name, true))
		case !in.Ignored && is:
			s.session.change(name+" is not left out", mapping.Ignore(text, name, false))
		}
		return nil
	})
}
