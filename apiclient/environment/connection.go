package environment

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// urlText is a url that check has nothing against; hint says how it is written. Messages
// never quote a url: people write passwords into urls.
func urlText(wants string, schema yamltree.Schema, check func(text string) (hint string, err error)) yamltree.Value[string] {
	return yamltree.Parsed(wants, schema, func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		hint, err := check(n.Text())
		if err != nil {
			r.Wrong(n, "url", "%s cannot be used: %v", n.Name(), err).Hint = hint
		}
		return n.Text(), err == nil
	})
}

// baseURL is what the service document calls {base_url}.
var baseURL = urlText("a url such as https://host/path", yamltree.Text.Schema, func(text string) (string, error) {
	_, err := apiclient.NormaliseBaseURL(text)
	return "write it as https://host/path, without the /funnel part", err
})

// tokenURL is an OAuth2 token endpoint, to which secrets are sent. Unlike a base url it may
// have a query (RFC 6749, section 3.2).
var tokenURL = urlText("a url such as https://host/token", yamltree.Text.Schema, func(text string) (string, error) {
	withoutQuery, _, _ := strings.Cut(text, "?")
	_, err := apiclient.NormaliseBaseURL(withoutQuery)
	if err != nil {
		err = errors.New(strings.Replace(err.Error(), "the base url ", "it ", 1))
	}
	return "write it as https://host/token, without a user name and password: they are client_id and client_secret", err
})

// tlsFiles is the tls section: paths as written, "" for none.
type tlsFiles struct {
	cert, key, ca string
	where         problem.Where
}

func tlsKeys(k *yamltree.Keys, t *tlsFiles) {
	yamltree.To(k, "cert", &t.cert, yamltree.Text, "the client certificate")
	yamltree.To(k, "key", &t.key, yamltree.Text, "the client certificate's private key, not encrypted")
	yamltree.To(k, "ca", &t.ca, yamltree.Text, "certificate authorities to trust beside the system's")
}

func checkTLS(r *yamltree.Reader, n *yamltree.Node, t *tlsFiles) {
	t.where = r.Where(n.At())
	if (n.Given("cert") == nil) != (n.Given("key") == nil) {
		r.Wrong(n, "missing-key", "a client certificate needs both “cert” and “key”")
	}
}

// load reads the files. The Config is nil when none is named: then the defaults of crypto/tls apply.
func (t tlsFiles) load(r *resolver) *tls.Config {
	if t.cert == "" && t.ca == "" {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	wrong := func(key string, err error, hint string) {
		r.note(problem.At(t.where, "tls", "“%s” cannot be used: %s", key, err).Hinted("%s", hint))
	}
	if t.cert != "" {
		cert, certErr := readConfig(beside(r.dir, t.cert), maxSize)
		key, keyErr := readConfig(beside(r.dir, t.key), maxSize)
		pair, err := tls.X509KeyPair(cert, key)
		if err = cmp.Or(certErr, keyErr, err); err != nil {
			wrong("cert", err, "cert and key must be PEM files that belong together; the key must not be encrypted")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if t.ca != "" {
		// Added to the system's authorities: the token endpoint often has a public
		// certificate while the service has a private one.
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		config.RootCAs = pool
		path := beside(r.dir, t.ca)
		data, err := readConfig(path, maxSize)
		if err == nil && !pool.AppendCertsFromPEM(data) {
			err = fmt.Errorf("there is no certificate in %s", path)
		}
		if err != nil {
			wrong("ca", err, "ca must be a PEM file with one or more certificates")
		}
	}
	return config
}

// proxySettings is the proxy key: a url, or an object with a url and credentials. The zero value is no proxy.
type proxySettings struct {
	url                string
	username, password reference
}

func proxyKeys(k *yamltree.Keys, p *proxySettings) {
	yamltree.To(k, "url", &p.url, proxyURL, "the proxy's url, http with host and port").Required()
	yamltree.To(k, "username", &p.username, openReference, "the user's name for the proxy; may be a secret")
	yamltree.To(k, "password", &p.password, secretReference, "the password for the proxy; "+referenceForms)
}

const proxyWants = "a url such as http://proxy.example.com:3128"

// proxyURL is scheme, host and port of a proxy, which is asked by http: TLS to the service runs through it. Messages never
// quote a url: people write passwords into urls.
var proxyURL = matching("url", proxyWants, yamltree.Schema{"type": "string", "pattern": proxyPattern}, proxyPattern,
	"http, host and port, and nothing else",
	"write it as http://proxy.example.com:3128; with a password, {url: http://proxy.example.com:3128, username: NAME, password: env:NAME}")

const proxyPattern = `^http://[^/@?#\s]+:[0-9]{1,5}/?$`

// proxy is the url alone, or the object of proxyKeys.
var proxy = yamltree.TextOr(proxyURL, func(p *proxySettings) *string { return &p.url },
	yamltree.Object(proxyKeys).Then(checkProxy), proxyWants+", or “url: …” with “username” and “password”")

func checkProxy(r *yamltree.Reader, n *yamltree.Node, _ *proxySettings) {
	if (n.Given("username") == nil) != (n.Given("password") == nil) {
		r.Wrong(n, "missing-key", "the proxy's credentials are both “username” and “password”").Hint = "give both, or leave both out"
	}
}

// resolve fetches the credentials; nil for no proxy.
func (p proxySettings) resolve(r *resolver) *apiclient.Proxy {
	if p.url == "" {
		return nil
	}
	proxy := &apiclient.Proxy{URL: p.url}
	if p.password.name != "" {
		username, password := r.login(p.username, p.password)
		proxy.Credentials = func() (string, string) { return username.Reveal(), password.Reveal() }
	}
	return proxy
}

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
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "it is not the url of a PostgreSQL database", "write " + ledgerWants + ", or " + referenceForms
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return "it has a password inside", referenceHint + ", or leave the password to a file .pgpass"
	}
	return "", ""
}

// Ledger fetches the url of the database that keeps the environment's ledger; the zero
// Secret when the ledger is a file of the state folder. The error joins problems.
func (e *Environment) Ledger(ctx context.Context) (Secret, error) {
	if e.ledger.name == "" {
		return Secret{}, nil
	}
	r := e.resolver(ctx)
	return r.secret(e.ledger), r.done()
}

// LedgerURL fetches the url of a ledger that a command line gives, or refers to by
// env:NAME, file:PATH or cmd:PROGRAM ARG…. flag names it in messages, which never quote
// it. The error is a problem.Problem.
func LedgerURL(ctx context.Context, flag, text string) (Secret, error) {
	if ref, err := parseReference(text); err != nil || ref.source != literal {
		return ReadSecret(ctx, flag, text)
	}
	if wrong, hint := checkLedgerURL(text); wrong != "" {
		return Secret{}, problem.New("ledger-url", "%s cannot be used: %s", flag, wrong).Hinted("%s", hint)
	}
	return newSecret(text), nil
}
