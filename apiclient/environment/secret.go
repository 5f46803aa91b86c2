package environment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

const (
	secretLimit  = 64 << 10         // bytes that a secret may have at most
	commandLimit = 30 * time.Second // how long a program may take to print a secret
	masked       = "***"            // is printed instead of a secret
)

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

// MarshalText is ***, for all encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// The sources of a reference: where a value is kept.
const (
	fromEnv     = "env"  // an environment variable
	fromFile    = "file" // a file, relative to the environments file's folder
	fromCommand = "cmd"  // what a program prints
	literal     = ""     // plain text; only where the value need not be secret
)

// reference is a value of the file that may be kept elsewhere. It holds no secret unless the source is literal.
type reference struct {
	key    string // the key of the file that holds it, or a header's name; for messages
	source string
	name   string   // variable, path or program; the text itself for a literal
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
		ref, err := parseReference(n.Text())
		ref.key, ref.at = n.Key(), n.At()
		switch {
		case err != nil:
			r.Wrong(n, "secret", "%s: %v", n.Name(), err)
		case strings.TrimSpace(n.Text()) == "":
			r.Wrong(n, "no-value", "%s must not be empty", n.Name())
		case ref.source == literal && secret:
			r.Wrong(n, "literal-secret", "%s is a secret and must not be written in this file", n.Name()).Hint = referenceHint
		case ref.source == literal && checkHeaderText(n.Text()) != nil:
			r.Wrong(n, "control-character", "%s has a line break or another control character inside", n.Name())
		}
		return ref, true
	})
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseReference parses a reference. The error never quotes the text: a secret may stand there by mistake.
func parseReference(text string) (reference, error) {
	scheme, rest, found := strings.Cut(text, ":")
	ref := reference{source: scheme, name: strings.TrimSpace(rest)}
	switch {
	case found && ref.source == fromEnv:
		if !variableName.MatchString(ref.name) {
			return ref, errors.New("env: must be followed by the name of an environment variable")
		}
	case found && ref.source == fromFile:
		if ref.name == "" {
			return ref, errors.New("file: must be followed by a path")
		}
	case found && ref.source == fromCommand:
		words, err := splitWords(ref.name)
		if err == nil && (len(words) == 0 || words[0] == "") {
			err = errors.New("cmd: must be followed by a program")
		}
		if err != nil {
			return ref, err
		}
		ref.name, ref.words = words[0], words
	default:
		return reference{name: text}, nil
	}
	return ref, nil
}

var (
	// wordOfCommand matches a word, quotes included.
	wordOfCommand = regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`)
	quotedPart    = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
)

// splitWords splits a command into words at white space. Single and double quotes keep
// white space inside a word. Nothing else is special: no shell is involved, and paths of
// Windows keep their backslashes.
func splitWords(command string) ([]string, error) {
	words := wordOfCommand.FindAllString(command, -1)
	if strings.TrimSpace(wordOfCommand.ReplaceAllString(command, "")) != "" {
		return nil, errors.New("in the command after cmd: a quote is not closed")
	}
	for i, word := range words {
		words[i] = quotedPart.ReplaceAllString(word, "$1$2")
	}
	return words, nil
}

// ReadSecret reads the secret that a command line refers to by env:NAME,
// file:PATH or cmd:PROGRAM ARG…; paths are relative to the current folder. flag
// names it in messages, which never quote the text: a literal, which is refused,
// may be the secret itself. The error is a problem.Problem.
func ReadSecret(ctx context.Context, flag, text string) (Secret, error) {
	ref, err := parseReference(text)
	if err == nil && ref.source == literal {
		return Secret{}, problem.New("literal-secret", "%s must not be the secret itself: other users of this machine can read a command line", flag).
			Hinted("%s", referenceHint)
	}
	value := ""
	if err == nil {
		value, err = ref.read(ctx, ".")
	}
	if err != nil {
		return Secret{}, problem.New("secret", "%s: %v", flag, err).Hinted("%s", referenceHint)
	}
	return newSecret(value), nil
}

// ReadID reads an id to which another file in dir refers by env:NAME or file:PATH. The error names no value.
func ReadID(dir, text string) (string, error) {
	ref, err := parseReference(text)
	if err == nil && ref.source != fromEnv && ref.source != fromFile {
		err = errors.New("env:NAME or file:PATH was expected")
	}
	if err != nil {
		return "", err
	}
	return ref.read(context.Background(), dir)
}

// read reads what a reference refers to; dir is the folder of relative paths.
// The error never quotes the value, nor anything that a program wrote.
func (ref reference) read(ctx context.Context, dir string) (string, error) {
	value, what := ref.name, "the value"
	var err error
	switch ref.source {
	case fromEnv:
		what = "the environment variable " + ref.name
		var isSet bool
		if value, isSet = os.LookupEnv(ref.name); !isSet {
			err = errors.New(what + " is not set")
		}
	case fromFile:
		what = beside(dir, ref.name)
		var data []byte
		data, err = readConfig(what, secretLimit)
		value = string(data)
	case fromCommand:
		what = "what the program prints"
		value, err = runSecretCommand(ctx, dir, ref.words)
	}
	if ref.source != literal {
		value = strings.TrimRight(value, "\r\n")
	}
	if err == nil && value == "" {
		err = errors.New(what + " is empty")
	}
	if err == nil {
		err = checkHeaderText(value)
	}
	return value, err
}

// checkHeaderText refuses what cannot be sent: secrets end up in headers,
// where a control character would be refused or, worse, end the header.
func checkHeaderText(value string) error {
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return errors.New("the value has a line break or another control character inside")
	}
	return nil
}

// readConfig reads a file that the environments file names. It must belong to
// this user or to root, and have at most limit bytes. Symbolic links are followed,
// because mounted secrets are links.
func readConfig(path string, limit int64) ([]byte, error) {
	data, err := safefile.Read(path, limit)
	return data, named(path, err)
}

// named turns what is wrong with a file into a part of a sentence that names the file.
func named(path string, err error) error {
	p, ok := errors.AsType[problem.Problem](err)
	switch {
	case !ok:
		return err
	case p.Hint == "":
		return fmt.Errorf("%s: %s", path, p.Message)
	}
	return fmt.Errorf("%s: %s (%s)", path, p.Message, p.Hint)
}

// runSecretCommand runs a program without a shell, in the environments file's
// folder, and returns what it prints. Its error output is thrown away: such
// programs may print the secret there.
func runSecretCommand(ctx context.Context, dir string, words []string) (string, error) {
	// The path must be absolute: the program starts in dir, where a relative one would be resolved again.
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", errors.New("the current folder is unknown")
	}
	program, name := words[0], filepath.Base(words[0])
	if strings.ContainsAny(program, `/\`) {
		program = beside(dir, program)
		if err := named(program, safefile.CheckPath(program)); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Dir, cmd.Stdout = dir, &out
	cmd.WaitDelay = time.Second // do not wait for a grandchild that keeps the output open
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s did not finish within %s", name, commandLimit)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s was stopped", name)
	case errors.As(err, &exit) && exit.Exited():
		return "", fmt.Errorf("%s failed with exit status %d; run it by hand to see why", name, exit.ExitCode())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // after which everything has been printed
		return "", fmt.Errorf("%s cannot be run: %v", name, problem.Cause(err))
	}
	return strings.TrimSpace(out.String()), nil
}

// beside resolves a path that is relative to dir.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// resolver fetches secrets and collects what is wrong with them.
type resolver struct {
	ctx      context.Context
	dir      string
	file     string
	problems problem.List
	secrets  []Secret // all that were fetched from elsewhere
}

func (e *Environment) resolver(ctx context.Context) *resolver {
	return &resolver{ctx: ctx, dir: e.dir(), file: e.where.File}
}

// secret fetches a secret. It is empty when that fails.
func (r *resolver) secret(ref reference) Secret {
	value, err := ref.read(r.ctx, r.dir)
	if err != nil {
		r.note(problem.At(ref.at.In(r.file), "secret", "“%s”: %s", ref.key, err))
		return Secret{}
	}
	secret := newSecret(value)
	if ref.source != literal {
		r.secrets = append(r.secrets, secret)
	}
	return secret
}

// login fetches a user name and a password for Basic authentication.
func (r *resolver) login(username, password reference) (Secret, Secret) {
	name := r.secret(username)
	if strings.Contains(name.Reveal(), ":") {
		r.note(problem.At(username.at.In(r.file), "secret", "“%s”: it has a colon inside, which basic authentication cannot send", username.key))
	}
	return name, r.secret(password)
}

func (r *resolver) note(p problem.Problem) { r.problems = append(r.problems, p) }

// done returns what is wrong, in the order of the file.
func (r *resolver) done() error {
	r.problems.Sort()
	return r.problems.Err()
}
