package studio

import (
	"context"
	"slices"
	"strconv"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// analysis is what a text says, checked against the sheets and the service. It does not
// change.
type analysis struct {
	text     []byte
	doc      *yamlpatch.Document // nil when the text is not YAML
	mapping  *mapping.Mapping
	service  *mapping.Service // with stand-ins for the contacts' ids
	problems problem.List
	warnings problem.List
	book     *book
	bound    *bound // what can be judged; nil when nothing can
}

// bound is a mapping that is bound to the sheets: that of the text, or as much of it as
// has no problems.
type bound struct {
	*mapping.Binding
	targets []mapping.Target // with the paths of the text
	partial bool             // rules with problems are left out
	keyless bool             // the client's key is among them, so clients cannot be told apart
}

// analyse checks a text.
func analyse(file string, text []byte, b *book, service *mapping.Service) *analysis {
	a := &analysis{text: text, book: b}
	a.mapping, a.problems = mapping.Parse(file, text)
	a.service = withContacts(service, a.mapping)
	a.doc, _ = yamlpatch.Read(text)
	binding, found := mapping.BindAll(a.mapping, b.tables, a.service, load.Today(a.mapping))
	a.problems = append(a.problems, found...)
	a.problems.Sort()
	a.problems = slices.Compact(a.problems)
	a.warnings = slices.Concat(a.mapping.Warnings, a.mapping.Cautions)
	if service != nil {
		a.warnings = slices.Concat(a.warnings, mapping.StrayTemplateIDs(a.mapping, a.service), mapping.UnlistedTexts(a.mapping, a.service),
			mapping.UnfilledAttributes(a.mapping, a.service))
	}
	if binding != nil && len(b.tables) > 0 {
		a.warnings = append(a.warnings, binding.UnusedColumns()...)
	}
	if a.doc != nil && b.err == nil && !b.opening {
		a.bound = bind(file, text, b, service)
	}
	return a
}

// withContacts returns the service with stand-ins for the ids of contacts that the
// environment has: a session shows what would be sent, and sends nothing.
func withContacts(service *mapping.Service, m *mapping.Mapping) *mapping.Service {
	if service == nil {
		return nil
	}
	own := *service
	own.ContactIDs = map[string]string{}
	for _, ref := range m.ContactReferences() {
		own.ContactIDs[ref.Text] = "«id in " + ref.Text + "»"
	}
	return &own
}

// mostTrims limits how often rules with problems are left out.
const mostTrims = 50

// bind binds a text, without the rules that have problems; nil when that is impossible.
func bind(file string, text []byte, b *book, service *mapping.Service) *bound {
	made := &bound{}
	t := trim{text: text, entries: map[string][]int{}}
	for range mostTrims {
		m, found := mapping.Parse(file, t.text)
		if len(m.Client.Fields) == 0 && len(m.Activities) == 0 {
			return nil
		}
		if len(m.Client.Key) == 0 {
			if t.keyless || !t.withoutKey(b) {
				return nil
			}
			continue
		}
		binding, more := mapping.BindAll(m, b.tables, withContacts(service, m), load.Today(m))
		if binding != nil && !t.concerns(found) {
			made.Binding, made.targets = binding, binding.Targets()
			for i := range made.targets {
				made.targets[i].Path = t.original(made.targets[i].Path)
			}
			made.partial, made.keyless = t.changed, t.keyless
			return made
		}
		if !t.without(append(found, more...), b) {
			return nil
		}
	}
	return nil
}

// trim is a text from which rules with problems are taken out.
type trim struct {
	text    []byte
	changed bool
	keyless bool
	entries map[string][]int // of lists: the places in the original of those that are left; absent when all are
}

// unit returns the path of the rule to leave out for a problem at a path; nil when there
// is none that the rest can do without.
func unit(path []string) []string {
	is := func(words ...string) bool {
		return len(path) >= len(words) && slices.EqualFunc(path[:len(words)], words, func(have, want string) bool { return want == "*" || have == want })
	}
	switch {
	case is("client", "fields", "*"), is("client", "lookup", "*"):
		return path[:3]
	case is("client", "fields"), is("client", "key"), is("name"), is("api"):
		return nil
	case is("client", "*"), is("sheet", "*"), is("workflow", "*"):
		return path[:2]
	case is("activities", "*", "attributes", "*"):
		return path[:4]
	case is("activities", "*"), is("claims", "*"), is("contacts", "*"):
		return path[:2]
	case len(path) > 0 && path[0] != "client":
		return path[:1]
	}
	return nil
}

// concerns reports whether there is a problem that judging must not pass over. A missing
// name, for example, is none.
func (t *trim) concerns(found problem.List) bool {
	doc, err := yamlpatch.Read(t.text)
	return err != nil || slices.ContainsFunc(found, func(p problem.Problem) bool {
		return p.Where.Line > 0 && unit(doc.At(p.Where.Line, p.Where.Column)) != nil
	})
}

// without takes out the rules of problems; false when nothing could be taken out.
func (t *trim) without(found problem.List, b *book) bool {
	doc, err := yamlpatch.Read(t.text)
	if err != nil {
		return false
	}
	units := map[string][]string{}
	for _, p := range found {
		if p.Where.Line == 0 || p.Where.Sheet != "" {
			continue
		}
		path := doc.At(p.Where.Line, p.Where.Column)
		if u := unit(path); u != nil {
			units[yamlpatch.Pointer(u...)] = u
		} else if len(path) >= 2 && path[0] == "client" && path[1] == "key" && !t.keyless {
			return t.withoutKey(b)
		}
	}
	trimmed := false
	for _, pointer := range slices.Backward(sortedPaths(units)) { // entries of lists from the last
		u := units[pointer]
		text, err := yamlpatch.Apply(t.text, style, yamlpatch.Operation{Op: "remove", Path: pointer})
		if err != nil {
			continue
		}
		if len(u) == 2 && slices.Contains(lists, u[0]) {
			at, _ := strconv.Atoi(u[1])
			t.forget(u[0], at, len(doc.Keys(u[0])))
		}
		t.text, t.changed, trimmed = text, true, true
	}
	return trimmed
}

// sortedPaths sorts pointers so that a list's entries are in their order.
func sortedPaths(units map[string][]string) []string {
	var list []string
	for pointer := range units {
		list = append(list, pointer)
	}
	slices.SortFunc(list, func(a, b string) int {
		return slices.CompareFunc(units[a], units[b], func(x, y string) int {
			i, err := strconv.Atoi(x)
			k, other := strconv.Atoi(y)
			if err == nil && other == nil {
				return i - k
			}
			if x < y {
				return -1
			} else if x > y {
				return 1
			}
			return 0
		})
	})
	return list
}

// withoutKey lets the first column be the key, which is then not judged.
func (t *trim) withoutKey(b *book) bool {
	for _, c := range b.columns {
		if c.header == "" || c.shared {
			continue
		}
		text, err := apply(t.text, nil, []yamlpatch.Operation{{Op: "add", Path: "/client/key", Value: cell.QuoteJSON(c.header)}})
		if err == nil {
			t.text, t.keyless, t.changed = text, true, true
		}
		return err == nil
	}
	return false
}

// forget notes that an entry of a list is taken out.
func (t *trim) forget(list string, at, length int) {
	if t.entries[list] == nil {
		for i := range length {
			t.entries[list] = append(t.entries[list], i)
		}
	}
	t.entries[list] = slices.Delete(t.entries[list], at, at+1)
}

// original returns the path of the original text that a path of the trimmed one had.
func (t *trim) original(path []string) []string {
	if len(path) < 2 || t.entries[path[0]] == nil {
		return path
	}
	at, _ := strconv.Atoi(path[1])
	path = slices.Clone(path)
	path[1] = strconv.Itoa(t.entries[path[0]][at])
	return path
}

// refresh analyses the text of now and judges the sheets by it, in the background. When
// the text chooses another sheet or header row, that is opened first. The caller holds the
// lock.
func (s *Server) refresh() {
	defer s.bump()
	text := s.session.text()
	o := s.session.sheetOptions(s.options)
	b := s.books[o]
	if b == nil {
		b = newBook(o, s.now.book)
		s.books[o] = b
		s.background(func() { s.openBook(o) })
	}
	if s.now != nil && s.now.book == b && string(s.now.text) == string(text) {
		return
	}
	if s.now != nil && s.now.book != b && !s.now.book.opening {
		s.previous = s.now.book
	}
	s.now = analyse(s.options.Mapping, text, b, s.options.Service)
	s.judge()
	s.retire()
}

// openBook opens the sheets with some options, and begins to read their rows if the text
// of now still has them so.
func (s *Server) openBook(o reading) {
	start := o
	start.HeaderRow = 0
	s.mu.Lock()
	looks := s.looks[start]
	s.mu.Unlock()
	var opened []*sheet.Reader
	if looks == nil {
		for _, path := range s.options.Sheets {
			l, r := lookAt(path, start)
			looks, opened = append(looks, l), append(opened, r)
		}
	}
	b := openBook(s.ctx, s.options.Sheets, o, looks, opened)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks[start] = looks
	opening := s.books[o]
	if s.books[o] = b; s.now == nil { // New goes on with it
		return
	}
	if s.now.book != opening { // another choice was made meanwhile
		delete(s.books, o)
		b.close()
		return
	}
	s.refresh()
	s.background(func() { s.readBook(b) })
}

// retire closes the books that are neither the one of now nor the one before it, to which
// an undo may go back. The caller holds the lock.
func (s *Server) retire() {
	for o, b := range s.books {
		if b != s.now.book && b != s.previous && !b.opening {
			delete(s.books, o)
			delete(s.suggest, o)
			s.background(b.close)
		}
	}
}

// canChoose reports whether a page could help with sheets that cannot be opened, by
// another sheet or header row. The caller holds the lock.
func (s *Server) canChoose() bool {
	return slices.ContainsFunc(s.now.book.looks, func(l look) bool { return len(l.first) > 0 })
}

// readBook reads the rows of a book and proposes a mapping for it.
func (s *Server) readBook(b *book) {
	if b.err != nil {
		return
	}
	b.use.RLock()
	defer b.use.RUnlock()
	more := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.now.book == b {
			s.bump()
		}
	}
	b.read(more)
	if b.failed != nil {
		s.propose(b, nil)
		return
	}
	made, err := b.propose(s.options.Suggest)
	if err != nil {
		made = nil
	}
	s.propose(b, made)
}

// propose takes the suggestions of a proposal for a book, nil for none, and begins with
// its mapping when there was none.
func (s *Server) propose(b *book, made *draft.Proposal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made != nil && s.books[b.options] == b {
		s.suggest[b.options] = made.Suggestions()
	}
	isFirst := s.first && s.now.book == b
	if isFirst {
		s.first = false
	}
	if isFirst && made != nil && !slices.ContainsFunc(b.tables, func(table cell.Sheet) bool { return len(made.Problems(table)) > 0 }) {
		s.session.beginWith(made.Plain())
		s.refresh()
	} else {
		s.bump()
	}
}

// judge begins the judgement of the text of now, and stops the one before. The caller
// holds the lock.
func (s *Server) judge() {
	if s.judging != nil {
		s.judging()
		s.judging = nil
	}
	a := s.now
	if a.book.opening {
		return
	}
	if s.stale = a.bound == nil; s.stale {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	v := newVerdict(a)
	s.judging, s.verdict = cancel, v
	s.background(func() {
		defer cancel()
		select {
		case <-a.book.ready:
		case <-ctx.Done():
			return
		}
		a.book.use.RLock()
		defer a.book.use.RUnlock()
		if a.book.failed != nil {
			return
		}
		v.judge(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.verdict == v {
				s.bump()
			}
		})
	})
}
