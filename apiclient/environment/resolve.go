package environment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

const (
	secretLimit   = 64 << 10         // bytes that a secret may have at most
	commandLimit  = 30 * time.Second // how long a program may take to print one
	worldReadable = 0o004
	idLimit       = 200 // bytes
)

// ReadSecret reads the secret that a command line refers to by env:NAME,
// file:PATH or cmd:PROGRAM ARG…; paths are relative to the current folder. flag
// names it in messages, which never quote the text: a literal, which is refused,
// may be the secret itself. The error is a problem.Problem.
func ReadSecret(ctx context.Context, flag, text string) (Secret, error) {
	ref, wrong := parseReference(text)
	switch {
	case wrong != "":
		return Secret{}, problem.New("secret", "%s: %s", flag, wrong).Hinted("%s", referenceHint)
	case ref.source == literal:
		return Secret{}, problem.New("literal-secret", "%s must not be the secret itself: other users of this machine can read a command line", flag).
			Hinted("%s", referenceHint)
	}
	value, err := ref.resolve(ctx, ".")
	if err != nil {
		return Secret{}, problem.New("secret", "%s: %v", flag, err).Hinted("%s", referenceHint)
	}
	return newSecret(value), nil
}

// ReadID reads an id to which another file in dir refers by env:NAME or file:PATH.
// The error names no value. An id is one word.
func ReadID(dir, text string) (string, error) {
	ref, wrong := parseReference(text)
	switch {
	case wrong != "":
		return "", errors.New(wrong)
	case ref.source != fromEnv && ref.source != fromFile:
		return "", errors.New("env:NAME or file:PATH was expected")
	}
	id, err := ref.resolve(context.Background(), dir)
	if err == nil && (len(id) > idLimit || strings.ContainsFunc(id, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })) {
		err = errors.New("what stands there is not one word, or too long for an id")
	}
	if err != nil {
		return "", err
	}
	return id, nil
}

// resolve reads what a reference refers to; dir is the folder of relative paths.
// The error never quotes the value, nor anything that a program wrote.
func (r reference) resolve(ctx context.Context, dir string) (value string, err error) {
	switch r.source {
	case fromEnv:
		value, err = readVariable(r.name)
	case fromFile:
		value, err = readSecretFile(beside(dir, r.name))
	case fromCommand:
		value, err = runSecretCommand(ctx, dir, r.words)
	case literal:
		value = r.name
	}
	if err == nil {
		err = checkHeaderText(value)
	}
	return value, err
}

// checkHeaderText refuses what cannot be sent: secrets end up in headers,
// where a control character would be refused or, worse, end the header.
func checkHeaderText(value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	for _, c := range []byte(value) {
		if c < ' ' || c == 0x7f {
			return errors.New("the value has a line break or another control character inside")
		}
	}
	return nil
}

func readVariable(name string) (string, error) {
	value, ok := os.LookupEnv(name)
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	if value == "" {
		return "", fmt.Errorf("the environment variable %s is empty", name)
	}
	return strings.TrimRight(value, "\r\n"), nil
}

// readSecretFile follows symbolic links, because mounted secrets are links.
func readSecretFile(path string) (string, error) {
	value, err := readConfig(path, secretLimit)
	if err != nil {
		return "", err
	}
	trimmed := strings.TrimRight(string(value), "\r\n")
	if trimmed == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return trimmed, nil
}

// readConfig reads a file that the environments file names. It must belong to
// this user or to root, and have at most limit bytes.
func readConfig(path string, limit int64) ([]byte, error) {
	data, err := safefile.Read(path, limit)
	return data, named(path, err)
}

// named turns what is wrong with a file into a part of a sentence that names the
// file.
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
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	// The path must be absolute: the program starts in dir, where a relative one
	// would be resolved again.
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", errors.New("the current folder is unknown")
	}
	program := words[0]
	if strings.ContainsAny(program, `/\`) {
		program = beside(dir, program)
		if err := named(program, safefile.CheckPath(program)); err != nil {
			return "", err
		}
	}
	out := &cappedBuffer{}
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Dir = dir
	cmd.Stdout = out
	// Do not wait for a grandchild that keeps the output open.
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the program itself has succeeded and printed everything
	}
	name := filepath.Base(words[0])
	var exit *exec.ExitError
	switch {
	case out.full:
		return "", fmt.Errorf("%s printed more than 64 KiB", name)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s did not finish within %s", name, commandLimit)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s was stopped", name)
	case errors.As(err, &exit) && exit.Exited():
		return "", fmt.Errorf("%s failed with exit status %d; run it by hand to see why", name, exit.ExitCode())
	case err != nil:
		return "", fmt.Errorf("%s cannot be run: %s", name, reason(err))
	}
	value := strings.TrimSpace(out.kept.String())
	if value == "" {
		return "", fmt.Errorf("%s printed nothing", name)
	}
	return value, nil
}

// cappedBuffer keeps up to secretLimit bytes and refuses more. The buffer is
// not embedded: io.Copy would find its ReadFrom and bypass the limit.
type cappedBuffer struct {
	kept bytes.Buffer
	full bool
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > secretLimit {
		b.full = true
		return 0, errors.New("too much output")
	}
	return b.kept.Write(p)
}

// beside resolves a path that is relative to dir.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// reason is why a program cannot be run, without the path and the arguments.
func reason(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, os.ErrPermission):
		return "permission is denied"
	}
	return problem.Cause(err).Error()
}

// isWorldReadable reports whether other users of this machine may read a file.
// Windows has no such permission bits.
func isWorldReadable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&worldReadable != 0
}
