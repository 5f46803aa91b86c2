package studio

import (
	"context"
	"slices"

	"claimsheet/importer/cli/load"
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
	a.warnings = slices.Clone(a.mapping.Warnings)
	if part != nil {
		a.warnings = append(a.warnings, part.Warnings()...)
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
	text, o := s.session.text(), s.session.sheetOptions(s.options)
	if s.book.options != o {
		old := s.book
		s.book = &book{options: o, opening: true, looks: old.looks, names: old.names, ready: make(chan struct{})}
		opening := s.book
		s.background(old.close)
		s.background(func() { s.open(opening) })
	}
	if s.now != nil && s.now.book == s.book && string(s.now.text) == string(text) {
		return
	}
	s.now = analyse(s.options.Mapping, text, s.book, s.options.Service)
	s.judge()
}

// open opens the sheets, and reads their rows if no other choice was made meanwhile.
func (s *Server) open(opening *book) {
	b := openBook(s.ctx, s.options.Sheets, opening.options)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.book != opening {
		b.close()
		return
	}
	s.book = b
	s.refresh()
	s.background(func() { s.readBook(b) })
}

// readBook reads the rows of a book, makes suggestions of them, and begins with the mapping
// that they propose when there was none.
func (s *Server) readBook(b *book) {
	if b.err != nil {
		return
	}
	b.use.RLock()
	defer b.use.RUnlock()
	b.read(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.book == b {
			s.bump()
		}
	})
	var made *draft.Proposal
	if b.failed == nil {
		made, _ = b.propose(s.options.Suggest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.book != b {
		return
	}
	defer s.bump()
	isFirst := s.first
	s.first = false
	if made == nil {
		return
	}
	b.suggestions = made.Suggestions()
	if isFirst && !slices.ContainsFunc(b.tables, func(table cell.Sheet) bool { return len(made.Problems(table)) > 0 }) {
		s.session.beginWith(made.Plain())
		s.refresh()
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
