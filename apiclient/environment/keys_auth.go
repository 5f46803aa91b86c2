package environment

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// The ways to authenticate. The service document shows none (section
// "Authentication"), so the common ones are offered.
const (
	authNone   = "none"
	authBearer = "bearer"
	authAPIKey = "api_key"
	authBasic  = "basic"
	authOAuth2 = "oauth2"
)

// credentials is the auth section. Only what belongs to kind is set.
type credentials struct {
	kind               string // "" as authNone
	token              reference
	header             string
	key                reference
	username, password reference
	tokenURL           string
	clientID           reference
	clientSecret       reference
	scopes             []string
	style              string // header or params
}

var authFields = []field[credentials]{
	{"type", "none (default), bearer, api_key, basic or oauth2 (client credentials)", formOneOf(authTypes()),
		func(r *reader, v value, c *credentials) { c.kind = r.oneOf(v, authTypes()) }},
	{"token", "bearer: the token; " + referenceForms, formSecret,
		func(r *reader, v value, c *credentials) { c.token = r.reference(v, true) }},
	{"header", "api_key: the header that carries the key", formText,
		func(r *reader, v value, c *credentials) { c.header = r.authHeader(v) }},
	{"key", "api_key: the key; " + referenceForms, formSecret,
		func(r *reader, v value, c *credentials) { c.key = r.reference(v, true) }},
	{"username", "basic: the user's name; may be kept elsewhere: " + referenceForms, formText,
		func(r *reader, v value, c *credentials) { c.username = r.reference(v, false) }},
	{"password", "basic: the password; " + referenceForms, formSecret,
		func(r *reader, v value, c *credentials) { c.password = r.reference(v, true) }},
	{"token_url", "oauth2: the token endpoint; https, or http to this machine", formText,
		func(r *reader, v value, c *credentials) { c.tokenURL = r.tokenURL(v) }},
	{"client_id", "oauth2: the client's id; may be kept elsewhere: " + referenceForms, formText,
		func(r *reader, v value, c *credentials) { c.clientID = r.reference(v, false) }},
	{"client_secret", "oauth2: the client's secret; " + referenceForms, formSecret,
		func(r *reader, v value, c *credentials) { c.clientSecret = r.reference(v, true) }},
	{"scopes", "oauth2: the scopes to ask for; default: none", formList(formText),
		func(r *reader, v value, c *credentials) { c.scopes = r.texts(v) }},
	{"style", "oauth2: where the client's id and secret are sent: header (default) or params", formOneOf(authStyles),
		func(r *reader, v value, c *credentials) { c.style = r.oneOf(v, authStyles) }},
}

var authStyles = []string{"header", "params"}

// authKeys tells which keys go with which type: those needed and those that
// may be left out.
var authKeys = []struct {
	kind             string
	needed, optional []string
}{
	{authNone, nil, nil},
	{authBearer, []string{"token"}, nil},
	{authAPIKey, []string{"header", "key"}, nil},
	{authBasic, []string{"username", "password"}, nil},
	{authOAuth2, []string{"token_url", "client_id", "client_secret"}, []string{"scopes", "style"}},
}

func authTypes() []string {
	var types []string
	for _, a := range authKeys {
		types = append(types, a.kind)
	}
	return types
}

func readAuth(r *reader, v value, e *Environment) {
	readObject(r, v, authFields, &e.auth)
	if v.Kind == yaml.MappingNode && !hasKey(v, "type") {
		r.wrong(v.Node, "missing-key", "“auth” needs “type”: %s", orList(authTypes()))
	}
	for _, a := range authKeys {
		if a.kind == e.auth.kind {
			r.checkAuthKeys(v, a.kind, a.needed, slices.Concat(a.needed, a.optional))
		}
	}
}

// checkAuthKeys compares the keys given with those that the type takes.
func (r *reader) checkAuthKeys(v value, kind string, needed, allowed []string) {
	for key := range keysOf(v) {
		known := find(authFields, key.Value) != nil && key.Value != "type"
		if known && !slices.Contains(allowed, key.Value) {
			r.wrong(key, "auth-key", "“%s” does not go with auth type %s", key.Value, kind).
				Hint = "expected " + cmp.Or(orList(allowed), "no other key")
		}
	}
	for _, name := range needed {
		if !hasKey(v, name) {
			r.wrong(v.Node, "missing-key", "auth type %s needs “%s”", kind, name)
		}
	}
}
