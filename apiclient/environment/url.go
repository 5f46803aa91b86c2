package environment

import (
	"net"
	"net/url"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem/yamltree"
)

// urlText is a url that check has nothing against. Messages never quote a url: people
// write passwords into urls.
func urlText(wants string, schema yamltree.Schema, check func(text string) (wrong, hint string)) yamltree.Value[string] {
	return yamltree.Parsed(wants, schema, func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		wrong, hint := check(n.Text())
		if wrong != "" {
			r.Wrong(n, "url", "%s cannot be used: %s", n.Name(), wrong).Hint = hint
		}
		return n.Text(), wrong == ""
	})
}

// baseURL is what the service document calls {base_url}.
var baseURL = urlText("a url such as https://host/path", yamltree.Text.Schema, func(text string) (wrong, hint string) {
	if _, err := apiclient.NormaliseBaseURL(text); err != nil {
		return err.Error(), "write it as https://host/path, without the /funnel part"
	}
	return "", ""
})

// tokenURL is an OAuth2 token endpoint. Unlike a base url it may have a query
// (RFC 6749, section 3.2).
var tokenURL = urlText("a url such as https://host/token", yamltree.Text.Schema, checkSecretURL)

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
