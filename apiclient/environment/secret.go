package environment

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"

	"claimsheet/mapping/problem/yamltree"
)

// masked is printed instead of a secret.
const masked = "***"

// Secret is a resolved secret. It prints as *** through fmt with every verb,
// log/slog, and encoders of JSON, YAML and text; only Reveal returns it. The zero
// value is the empty secret.
//
// The value is kept in a closure because fmt cannot call methods on the
// unexported fields of other structs: it would print a string kept there, but
// it has only an address to print of a func.
type Secret struct {
	reveal func() string
}

func newSecret(value string) Secret {
	return Secret{reveal: func() string { return value }}
}

// Reveal is the secret itself, for the moment in which it is used.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Format prints *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// String is ***.
func (s Secret) String() string { return masked }

// LogValue is ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText is ***; it serves JSON values and map keys too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalYAML is ***.
func (s Secret) MarshalYAML() (any, error) { return masked, nil }

// source is where a secret is kept.
type source string

const (
	fromEnv     source = "env"  // an environment variable
	fromFile    source = "file" // a file, relative to the environments file's folder
	fromCommand source = "cmd"  // what a program prints
	literal     source = ""     // plain text; only where the value need not be secret
)

// reference is a value of the file that may be kept elsewhere. It holds no
// secret unless the source is literal.
type reference struct {
	key    string // the key of the file that holds it, or a header's name; for messages
	source source
	name   string   // variable or path; the text itself for a literal
	words  []string // program and arguments
	at     yamltree.Place
}

const (
	referenceForms = "env:NAME, file:PATH or cmd:PROGRAM ARG…"
	referenceHint  = "write " + referenceForms + " and keep the secret there"
)

var (
	// openReference is a text that may be kept elsewhere.
	openReference = referenceValue(false, yamltree.Text.Schema)
	// secretReference is a text that must be kept elsewhere.
	secretReference = referenceValue(true, yamltree.Schema{"type": "string", "pattern": "^(env|file|cmd):"})
)

func referenceValue(secret bool, schema yamltree.Schema) yamltree.Value[reference] {
	return yamltree.Parsed("a text", schema, func(r *yamltree.Reader, n *yamltree.Node) (reference, bool) {
		ref, wrong := parseReference(n.Text())
		ref.key, ref.at = n.Key(), n.At()
		switch {
		case wrong != "":
			r.Wrong(n, "secret", "%s: %s", n.Name(), wrong)
		case strings.TrimSpace(n.Text()) == "":
			r.Wrong(n, "no-value", "%s must not be empty", n.Name())
		case ref.source == literal && secret:
			r.Wrong(n, "literal-secret", "%s is a secret and must not be written in this file", n.Name()).
				Hint = referenceHint
		case ref.source == literal && checkHeaderText(n.Text()) != nil:
			r.Wrong(n, "control-character", "%s has a line break or another control character inside", n.Name())
		}
		return ref, true
	})
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseReference parses a reference. wrong says what is wrong and never quotes
// the text: a secret may stand there by mistake.
func parseReference(text string) (ref reference, wrong string) {
	scheme, rest, found := strings.Cut(text, ":")
	rest = strings.TrimSpace(rest)
	switch {
	case found && source(scheme) == fromEnv:
		if !variableName.MatchString(rest) {
			return ref, "env: must be followed by the name of an environment variable"
		}
		return reference{source: fromEnv, name: rest}, ""
	case found && source(scheme) == fromFile:
		if rest == "" {
			return ref, "file: must be followed by a path"
		}
		return reference{source: fromFile, name: rest}, ""
	case found && source(scheme) == fromCommand:
		words, err := splitWords(rest)
		if err != nil {
			return ref, "in the command after cmd: " + err.Error()
		}
		if len(words) == 0 || words[0] == "" {
			return ref, "cmd: must be followed by a program"
		}
		return reference{source: fromCommand, name: words[0], words: words}, ""
	}
	return reference{source: literal, name: text}, ""
}

var (
	// wordOfCommand matches a word, quotes and backslashes included.
	wordOfCommand = regexp.MustCompile(`(?s)(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+`)
	quotedPart    = regexp.MustCompile(`(?s)\\.|'[^']*'|"(?:[^"\\]|\\.)*"`)
	backslash     = regexp.MustCompile(`(?s)\\(.)`)
)

// splitWords splits a command into words at white space. Single and double
// quotes keep white space inside a word; a backslash outside single quotes
// takes the next character as it is. Nothing else is special: there are no
// variables, patterns or pipes, because no shell is involved.
func splitWords(command string) ([]string, error) {
	if strings.TrimSpace(wordOfCommand.ReplaceAllString(command, "")) != "" {
		return nil, errors.New("a quote is not closed")
	}
	words := wordOfCommand.FindAllString(command, -1)
	for i, word := range words {
		words[i] = quotedPart.ReplaceAllStringFunc(word, func(part string) string {
			switch part[0] {
			case '\\':
				return part[1:]
			case '"':
				part = backslash.ReplaceAllString(part, "$1")
			}
			return part[1 : len(part)-1]
		})
	}
	return words, nil
}
