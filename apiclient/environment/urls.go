package environment

import (
	"net"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient"
)

// baseURL reads what the service document calls {base_url}, normalised. The
// url itself is never quoted: people write passwords into urls.
func (r *reader) baseURL(v value) string {
	if !r.isKind(v, yaml.ScalarNode, "a url such as https://host/path") {
		return ""
	}
	base, err := apiclient.NormaliseBaseURL(v.Value)
	if err != nil {
		r.wrong(v.Node, "url", "%s cannot be used: %s", v.name(), err).
			Hint = "write it as https://host/path, without the /funnel part"
		return ""
	}
	return base
}

// tokenURL reads an OAuth2 token endpoint; unlike a base url it may carry a
// query (RFC 6749, section 3.2).
func (r *reader) tokenURL(v value) string {
	if !r.isKind(v, yaml.ScalarNode, "a url such as https://host/token") {
		return ""
	}
	if wrong, hint := checkTokenURL(v.Value); wrong != "" {
		r.wrong(v.Node, "url", "%s cannot be used: %s", v.name(), wrong).Hint = hint
		return ""
	}
	return v.Value
}

func checkTokenURL(text string) (wrong, hint string) {
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
