package environment

import (
	"crypto/tls"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// proxySettings is the proxy key: a url, or an object with a url and credentials.
// The zero value is no proxy.
type proxySettings struct {
	url                string
	username, password reference
	where              problem.Where
}

var proxyKeys = []yamltree.Key[proxySettings]{
	yamltree.To("url", "the proxy's url, http or https, with host and port",
		proxyURL, func(p *proxySettings) *string { return &p.url }).Required(),
	yamltree.To("username", "the user's name for the proxy (Basic); may be kept elsewhere: "+referenceForms,
		openReference, func(p *proxySettings) *reference { return &p.username }),
	yamltree.To("password", "the password for the proxy; "+referenceForms,
		secretReference, func(p *proxySettings) *reference { return &p.password }),
}

// proxyURL is scheme, host and port of a proxy.
var proxyURL = urlText(proxyWants, yamltree.Schema{"type": "string", "pattern": "^https?://[^/@]+:[0-9]+/?$"}, checkProxyURL)

func checkProxyURL(text string) (wrong, hint string) {
	err := apiclient.CheckProxyURL(text)
	switch {
	case err == nil:
		return "", ""
	case strings.Contains(text, "@"):
		return err.Error(), "write proxy: {url: http://proxy.example.com:3128, username: NAME, password: env:NAME}"
	}
	return err.Error(), "write it as http://proxy.example.com:3128"
}

const proxyWants = "a url such as http://proxy.example.com:3128"

// proxy is the url alone, or the object of proxyKeys.
var proxy = yamltree.Value[proxySettings]{
	Kinds: yamltree.Scalars | yamltree.Objects, Wants: proxyWants + ", or “url: …” with “username” and “password”",
	Schema: yamltree.Schema{"anyOf": []yamltree.Schema{proxyURL.Schema, yamltree.Object(proxyKeys).Schema}},
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *proxySettings) bool {
		into.where = r.Where(n.At())
		if n.Kind() != yamltree.Objects {
			return proxyURL.Read(r, n, &into.url)
		}
		yamltree.Object(proxyKeys).Read(r, n, into)
		if (n.Given("username") == nil) != (n.Given("password") == nil) {
			r.Wrong(n, "missing-key", "the proxy's credentials are both “username” and “password”").Hint = "give both, or leave both out"
		}
		return true
	},
}

// references are the credentials that may be kept elsewhere.
func (p proxySettings) references() []reference { return []reference{p.username, p.password} }

// resolve fetches the credentials; nil for no proxy.
func (p proxySettings) resolve(r *resolver, tlsConfig *tls.Config) *apiclient.Proxy {
	if p.url == "" {
		return nil
	}
	proxy := &apiclient.Proxy{URL: p.url, Authorities: tlsConfig}
	if p.password.name == "" {
		return proxy
	}
	username, password := r.secret(p.username), r.secret(p.password)
	r.refuseColon(p.username, username)
	proxy.Credentials = func() (string, string) { return username.Reveal(), password.Reveal() }
	return proxy
}
