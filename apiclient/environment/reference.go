package environment

import (
	"regexp"
	"strings"

	"claimsheet/mapping/problem"
)

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
	key    string // the key of the file that holds it, for messages
	source source
	name   string   // variable or path; the text itself for a literal
	words  []string // program and arguments
	where  problem.Where
}

// referenceHint tells how a secret is written.
const referenceHint = "write env:NAME, file:PATH or cmd:PROGRAM ARG… and keep the secret there"

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseReference takes text apart. What it says is wrong never quotes the
// text: a literal secret may stand there by mistake.
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
