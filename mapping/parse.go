package mapping

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// MaxSize is the largest mapping file that is read, in bytes.
const MaxSize = 1 << 20

// Parse reads a mapping file's bytes; file is its name in messages. It reports
// every problem that shows without a sheet or a service. The Mapping is never
// nil: what could be read can be bound, so that those problems are found too.
func Parse(file string, data []byte) (*Mapping, problem.List) {
	sum := sha256.Sum256(data)
	m := &Mapping{File: file, Digest: hex.EncodeToString(sum[:])}
	m.Sheet.HeaderRow = 1
	m.Sheet.Numbers = Numbers{Decimal: ".", Group: ","}
	m.Client.Existing = Reuse
	m.Client.Administrator = true

	p := &parser{file: file}
	if root := p.document(data); root != nil {
		object(p, root, "the mapping", m, mappingFields)
		m.setDefaults()
		p.check(m)
		m.Warnings = typographicQuotes(file, root)
	}
	p.keepWithin(data)
	p.problems.Sort()
	return m, p.problems
}

// keepWithin brings back the problems that the library places in the line
// behind the last, where no editor can go.
func (p *parser) keepWithin(data []byte) {
	last := max(bytes.Count(data, []byte("\n")), bytes.Count(data, []byte("\r"))) + 1
	for i := range p.problems {
		p.problems[i].Where.Line = min(p.problems[i].Where.Line, last)
	}
}

// document is the file's one YAML document, nil when there is none.
func (p *parser) document(data []byte) *yaml.Node {
	if len(data) > MaxSize {
		p.wrongAt(Place{1, 1}, "too-large", "the file is larger than 1 MiB; a mapping is a few kilobytes")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var doc, more yaml.Node
	dec, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = dec.Load(&doc)
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		p.wrongAt(Place{1, 1}, "empty-file", "the file is empty; a mapping was expected")
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	switch err := dec.Load(&more); {
	case err == nil:
		p.wrong(&more, "two-documents", "a mapping file holds one document; a second one begins here").
			Hint = "remove the line “---” and what follows it"
	case !errors.Is(err, io.EOF):
		p.syntax(err)
	}
	return doc.Content[0]
}

// syntax turns the library's error into a problem with its place.
func (p *parser) syntax(err error) {
	var at Place
	message := err.Error()
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		at, message = Place{e.Mark.Line, e.Mark.Column}, e.Message
	}
	p.wrongAt(Place{max(at.Line, 1), max(at.Column, 1)}, "yaml", "not YAML: %s", message).
		Hint = "check the indentation and the quotes here and in the line before"
}

// setDefaults fills in what depends on other keys.
func (m *Mapping) setDefaults() {
	for i := range m.Claims {
		if c := &m.Claims[i]; c.ID.Text == "" {
			c.ID.Text = "claim"
		}
	}
	for i := range m.Activities {
		a := &m.Activities[i]
		if a.ID.Text == "" {
			a.ID = a.Template
		}
		if a.On.Text == "" {
			a.On.Text = "client"
		}
		if a.Status == "" && a.StatusAt == (Place{}) { // else it is an unknown one
			a.Status = Submitted
		}
	}
}
