package environment

import (
	"context"
	"errors"

	"claimsheet/mapping/problem"
)

// Webhook is the url that text stands for: a url, or env:NAME, file:PATH or
// cmd:PROGRAM ARG… where it is kept as a secret. It must be https, or http to
// this machine. The problems never quote it: whoever has such a url may post to
// it.
func Webhook(ctx context.Context, text string) (Secret, error) {
	ref, wrong := parseReference(text)
	if wrong != "" {
		return Secret{}, webhookProblem(errors.New(wrong), referenceHint)
	}
	url, err := ref.resolve(ctx, "")
	if err != nil {
		return Secret{}, webhookProblem(err, "")
	}
	if wrong, _ := checkTokenURL(url); wrong != "" {
		return Secret{}, webhookProblem(errors.New(wrong), "write https://host/path, or env:NAME and keep the url there")
	}
	return NewSecret(url), nil
}

func webhookProblem(err error, hint string) error {
	p := problem.New("notify-url", "the url for the notice cannot be used: %v", err)
	p.Hint = hint
	return p
}
