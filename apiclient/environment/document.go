package environment

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// document is the file's one YAML document, nil when there is none. Aliases
// stay nodes of the tree and the library bounds the depth, so that neither can
// blow up.
func (r *reader) document(data []byte) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var doc, more yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = loader.Load(&doc)
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.add(problem.At(r.position(1, 1), "empty-file", "the file is empty; environments were expected"))
		return nil
	case err != nil:
		r.add(r.syntax(err, data))
		return nil
	}
	switch err := loader.Load(&more); {
	case err == nil:
		r.wrong(&more, "two-documents", "the file must hold one document; a second one begins here").
			Hint = "remove the line --- and what follows it"
	case !errors.Is(err, io.EOF):
		r.add(r.syntax(err, data))
	}
	return doc.Content[0]
}

// syntax turns the library's error into a problem. Its texts may quote the
// file, where a secret may stand by mistake, so only those known not to do so
// are passed on.
func (r *reader) syntax(err error, data []byte) problem.Problem {
	at, message := problem.Where{File: r.file, Line: 1, Column: 1}, ""
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		message = e.Message
		switch {
		case e.Mark.Line > 0:
			at.Line, at.Column = e.Mark.Line, max(e.Mark.Column, 1)
		case e.Mark.Index > 0 && e.Mark.Index <= len(data):
			at.Line = 1 + bytes.Count(data[:e.Mark.Index], []byte("\n"))
		}
	}
	if strings.HasPrefix(message, "unknown anchor") {
		return problem.At(at, "alias", "%s", aliasMessage).Hinted("%s", aliasHint)
	}
	text := "the file is not valid YAML here"
	if quotesNothing(message) {
		text += ": " + message
	}
	return problem.At(at, "yaml", "%s", text).
		Hinted("check the indentation, the brackets and the quotes here and in the line before")
}

const (
	aliasMessage = "anchors and aliases are not supported here"
	aliasHint    = "write the value out; put a value that begins with * or & in quotes"
)

// quotesNothing knows the library's texts that are made of fixed words.
func quotesNothing(message string) bool {
	switch message {
	case "mapping values are not allowed in this context",
		"block sequence entries are not allowed in this context",
		"found character that cannot start any token",
		"found unknown escape character",
		"found unexpected end of stream",
		"found undefined tag handle",
		"found a tab character where an indentation space is expected",
		"found a tab character that violates indentation",
		"could not find expected ':'",
		"did not find expected ',' or ']'",
		"did not find expected ',' or '}'",
		"did not find expected '-' indicator",
		"did not find expected key",
		"did not find expected node content":
		return true
	}
	return strings.HasPrefix(message, "exceeded max depth of ") ||
		strings.HasPrefix(message, "control characters are not allowed") ||
		strings.HasPrefix(message, "invalid leading UTF-8 octet")
}
