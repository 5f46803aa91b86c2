package environment

import (
	"context"
	"net/url"

	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// ledgerWants is how the url of a ledger is written.
const ledgerWants = "postgres://USER@HOST/DATABASE"

// ledgerURL is the url of the PostgreSQL database that keeps a ledger, or where the url
// is kept as a secret. With a password it is one.
var ledgerURL = openReference.Then(func(r *yamltree.Reader, n *yamltree.Node, ref *reference) {
	if ref.source != literal {
		return
	}
	if wrong, hint := checkLedgerURL(ref.name); wrong != "" {
		r.Wrong(n, "ledger-url", "%s cannot be used: %s", n.Name(), wrong).Hint = hint
	}
})

// checkLedgerURL checks a url that is not kept as a secret. wrong never quotes it.
func checkLedgerURL(text string) (wrong, hint string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql":
		return "it is not the url of a PostgreSQL database", "write " + ledgerWants + ", or " + referenceForms
	case hasPassword(u):
		return "it has a password inside", referenceHint + ", or leave the password to a file .pgpass"
	}
	return "", ""
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// Ledger fetches the url of the database that keeps the environment's ledger; the zero
// Secret when the ledger is a file of the state folder. The error is a problem.List.
func (e *Environment) Ledger(ctx context.Context) (Secret, error) {
	if e.ledger.name == "" {
		return Secret{}, nil
	}
	r := &resolver{ctx: ctx, dir: e.dir, file: e.where.File}
	secret := r.secret(e.ledger)
	return secret, r.problems.Err()
}

// LedgerURL fetches the url of a ledger that a command line gives, or refers to by
// env:NAME, file:PATH or cmd:PROGRAM ARG…. flag names it in messages, which never quote
// it. The error is a problem.Problem.
func LedgerURL(ctx context.Context, flag, text string) (Secret, error) {
	ref, wrong := parseReference(text)
	if wrong == "" && ref.source == literal {
		hint := ""
		if wrong, hint = checkLedgerURL(text); wrong == "" {
			return newSecret(text), nil
		}
		return Secret{}, problem.New("ledger-url", "%s cannot be used: %s", flag, wrong).Hinted("%s", hint)
	}
	return ReadSecret(ctx, flag, text)
}
