package environment

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// baseURL is what the service document calls {base_url}, normalised. Messages
// never quote a url: people write passwords into urls.
var baseURL = yamltree.Parsed("a url such as https://host/path", yamltree.Text.Schema,
	func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		base, err := apiclient.NormaliseBaseURL(n.Text())
		if err != nil {
			r.Wrong(n, "url", "%s cannot be used: %s", n.Name(), err).
				Hint = "write it as https://host/path, without the /funnel part"
		}
		return base, err == nil
	})

// tokenURL is an OAuth2 token endpoint. Unlike a base url it may have a query
// (RFC 6749, section 3.2).
var tokenURL = yamltree.Parsed("a url such as https://host/token", yamltree.Text.Schema,
	func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		wrong, hint := checkSecretURL(n.Text())
		if wrong != "" {
			r.Wrong(n, "url", "%s cannot be used: %s", n.Name(), wrong).Hint = hint
		}
		return n.Text(), wrong == ""
	})

// Webhook resolves the url to which a notice is posted. text is the url, or
// env:NAME, file:PATH or cmd:PROGRAM ARG… where it is kept as a secret. It must
// be https, or http to this machine. The problems never quote the url: whoever
// has it may post to it.
func Webhook(ctx context.Context, text string) (Secret, error) {
	ref, wrong := parseReference(text)
	if wrong != "" {
		return Secret{}, webhookProblem(errors.New(wrong), referenceHint)
	}
	url, err := ref.resolve(ctx, "")
	if err != nil {
		return Secret{}, webhookProblem(err, "")
	}
	if wrong, _ := checkSecretURL(url); wrong != "" {
		return Secret{}, webhookProblem(errors.New(wrong), "write https://host/path, or env:NAME and keep the url there")
	}
	return newSecret(url), nil
}

func webhookProblem(err error, hint string) error {
	p := problem.New("notify-url", "the url for the notice cannot be used: %v", err)
	p.Hint = hint
	return p
}

// checkSecretURL checks a url to which secrets are sent.
func checkSecretURL(text string) (wrong, hint string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return "it is not a url with a host", "write it as https://host/token"
	case u.User != nil:
		return "it has a user name or password inside", "write client_id and client_secret instead"
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return "it has a fragment (#…)", "leave the fragment out"
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "http sends the secret readable for everyone on the way", "write https://…"
	case u.Scheme != "http" && u.Scheme != "https":
		return "its scheme is not https", "write it as https://host/token"
	}
	return "", ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
