package studio

import (
	"context"
	"slices"

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
	bound    *mapping.Part // what can be judged; nil when nothing can
}

// analyse checks a text.
func analyse(file string, text []byte, b *book, service *mapping.Service) *analysis {
	a := &analysis{text: text, book: b}
	a.mapping, a.problems = mapping.Parse(file, text)
	a.service = withContacts(service, a.mapping)
	a.doc, _ = yamlpatch.Read(text)
	at := func(p problem.Where) []string {
		if a.doc == nil {
			return nil
		}
		return a.doc.At(p.Line, p.Column)
	}
	part, found := mapping.BindPart(a.mapping, a.problems, at, b.tables, a.service, load.Today(a.mapping))
	a.problems = append(a.problems, found...)
	a.problems.Sort()
	a.problems = slices.Compact(a.problems)
	a.warnings = slices.Concat(a.mapping.Warnings, a.mapping.Cautions)
	if service != nil {
		a.warnings = slices.Concat(a.warnings, mapping.StrayTemplateIDs(a.mapping, a.service), mapping.UnlistedTexts(a.mapping, a.service),
			mapping.UnfilledAttributes(a.mapping, a.service))
	}
	if a.doc != nil && b.err == nil && !b.opening && part != nil {
		if a.bound = part; !part.Partial {
			a.warnings = append(a.warnings, part.UnusedColumns()...)
		}
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
func (s *Server) openBook(o sheet.Options) {
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
