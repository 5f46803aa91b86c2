package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

func passwordFlag() cli.Flag {
	return textFlag("password", "", "the password of an encrypted workbook, as a `REFERENCE`: env:NAME, file:PATH or cmd:PROGRAM ARG…")
}

// password opens an encrypted workbook.
type password struct {
	reference string // as it was given; "" for none
	value     string
}

func passwordOf(c *cli.Context) (password, error) {
	if !c.IsSet("password") {
		return password{}, nil
	}
	given := c.String("password")
	secret, err := environment.ReadSecret(c.Context, "--password", given)
	return password{given, secret.Reveal()}, err
}

// withoutSecret is a command line in which a password that was typed instead of
// a reference does not stand.
func withoutSecret(words []string) []string {
	safe := slices.Clone(words)
	for i, word := range safe {
		flag, value, joined := strings.Cut(word, "=")
		if strings.TrimLeft(flag, "-") != "password" || !strings.HasPrefix(flag, "-") {
			continue
		}
		at := i
		if !joined {
			if at++; at == len(safe) {
				break
			}
			flag, value = "", safe[at]
		} else {
			flag += "="
		}
		if scheme, _, found := strings.Cut(value, ":"); !found || !slices.Contains([]string{"env", "file", "cmd"}, scheme) {
			safe[at] = flag + "env:NAME"
		}
	}
	return safe
}

// unencrypted says that what is made of an encrypted sheet is not, and never
// lets it take the place of one that is.
func unencrypted(given, output string) (problem.Problem, error) {
	out := problem.Where{File: output}
	if output == given {
		return problem.Problem{}, problem.At(out, "output-encrypted", "the new results workbook, which is not encrypted, would take the place of this encrypted one").
			Hinted("choose another name with -o")
	}
	return problem.At(out, "not-encrypted", "this workbook will not be encrypted, though the sheet is").
		Hinted("it holds personal data and redirect urls: keep it where only you can read it"), nil
}
