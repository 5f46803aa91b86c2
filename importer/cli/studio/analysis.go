package studio

import (
	"context"
	"slices"
	"sync/atomic"

	"claimsheet/importer/cli/load"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// analysis is what a text says, checked against the sheet and the service. It does not change.
type analysis struct {
	text     []byte
	doc      *yamlpatch.Document // nil when the text is not YAML
	mapping  *mapping.Mapping
	problems problem.List
	warnings problem.List
	book     *book
	bound    *mapping.Binding // what can be judged; nil when nothing can
}

func analyse(file string, text []byte, b *book, service *mapping.Service) *analysis {
	a := &analysis{text: text, book: b}
	a.mapping, a.problems = mapping.Parse(file, text)
	if service != nil { // with stand-ins for the ids of the environment's contacts: a session sends nothing
		own := *service
		own.ContactIDs = map[string]string{}
		for _, ref := range a.mapping.ContactReferences() {
			own.ContactIDs[ref.Text] = "«id in " + ref.Text + "»"
		}
		service = &own
	}
	a.doc, _ = yamlpatch.Read(text)
	at := func(p problem.Where) []string {
		if a.doc == nil {
			return nil
		}
		return a.doc.At(p.Line, p.Column)
	}
	var tables []cell.Sheet
	if b.isOpen {
		tables = []cell.Sheet{b.table}
	}
	part, found := mapping.BindPart(a.mapping, a.problems, at, tables, service, load.Today(a.mapping))
	a.problems = append(a.problems, found...)
	a.problems.Sort()
	a.problems = slices.Compact(a.problems)
	a.warnings = slices.Clone(a.mapping.Warnings)
	if part != nil {
		a.warnings = append(a.warnings, part.Warnings()...)
	}
	if a.doc != nil && b.err == nil && part != nil {
		if a.bound = part; !part.Partial {
			a.warnings = append(a.warnings, part.UnusedColumns()...)
		}
	}
	return a
}

// read reads the sheet as the text of now says, unless that was done before. The caller holds the lock.
func (s *Server) read() *book {
	o := s.session.reading(s.options)
	if s.books[o] == nil {
		s.books[o] = openBook(s.ctx, s.options.Sheets[0], o, s.options.Suggest)
	}
	return s.books[o]
}

// refresh analyses the text of now, and judges the sheet by it in the background. The caller holds the lock.
func (s *Server) refresh() {
	s.progress++
	b, text := s.read(), s.session.text()
	if s.now != nil && s.now.book == b && string(s.now.text) == string(text) {
		return
	}
	s.now = analyse(s.options.Mapping, text, b, s.options.Service)
	if s.judging != nil {
		s.judging()
	}
	if s.now.bound == nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	a, done := s.now, new(atomic.Int64)
	s.judging, s.judged = cancel, done
	s.background(func() {
		defer cancel()
		v := judge(ctx, a, done)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.now == a && ctx.Err() == nil {
			s.verdict = v
			s.progress++
		}
	})
}
