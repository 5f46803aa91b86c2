package environment

import (
	"context"

	"claimsheet/mapping/problem"
)

// ReadSecret reads the secret that a command line refers to by env:NAME,
// file:PATH or cmd:PROGRAM ARG…; paths are relative to the current folder.
// flag names it in messages, which never quote the text: a literal, which is
// refused, may be the secret itself. The error is a problem.Problem.
func ReadSecret(ctx context.Context, flag, text string) (Secret, error) {
	ref, wrong := parseReference(text)
	switch {
	case wrong != "":
		return Secret{}, problem.New("secret-reference", "%s: %s", flag, wrong).Hinted("%s", referenceHint)
	case ref.source == literal:
		return Secret{}, problem.New("literal-secret", "%s must not be the secret itself: other users of this machine can read a command line", flag).
			Hinted("%s", referenceHint)
	}
	value, err := ref.resolve(ctx, ".")
	if err != nil {
		return Secret{}, problem.New("secret", "%s: %v", flag, err).Hinted("%s", referenceHint)
	}
	return NewSecret(value), nil
}
