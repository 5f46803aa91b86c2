package environment

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

func readEnvironments(r *reader, v value, f *File) {
	for key, item := range r.pairs(v) {
		if key.Value == "" || key.Value != strings.TrimSpace(key.Value) {
			r.wrong(key, "environment-name", "an environment's name must not be empty or have spaces around it")
			continue
		}
		f.environments[key.Value] = r.environment(key, item)
	}
}

func (r *reader) environment(key *yaml.Node, v value) Environment {
	e := newEnvironment(key.Value)
	e.where = r.at(key)
	if e.Sandbox {
		r.checkSandbox(v)
	}
	readObject(r, v, environmentFields, &e)
	if e.Sandbox {
		return e
	}
	if (v.Kind == yaml.MappingNode || isNull(v.Node)) && !means(v, "base_url") {
		r.wrong(key, "missing-key", "environment “%s” needs “base_url”: what the service document calls {base_url}", shorten(key.Value))
	}
	for _, h := range e.headers {
		if e.auth.kind == authAPIKey && strings.EqualFold(h.key, e.auth.header) {
			r.add(problem.At(h.where, "duplicate-key", "the header “%s” is set by auth already", h.key).
				Hinted("keep one of the two"))
		}
	}
	return e
}

// networkKeys make sense only for a service that is reached over the network.
var networkKeys = []string{"base_url", "case_id", "auth", "tls", "headers"}

// checkSandbox reports what a sandbox cannot have. Such an entry was most
// likely meant to be a real environment, which must not be taken for a sandbox
// or the reverse.
func (r *reader) checkSandbox(v value) {
	refuse := func(v value, keys ...string) {
		for key := range keysOf(v) {
			if slices.Contains(keys, key.Value) {
				r.wrong(key, "sandbox-key", "“%s” makes no sense for the sandbox, which is part of this program", key.Value).
					Hint = "remove it, or give the environment another name"
			}
		}
	}
	refuse(v, networkKeys...)
	for key, types := range keysOf(v) {
		if key.Value != "claim_types" {
			continue
		}
		for _, ct := range keysOf(types) {
			refuse(ct, "case_id")
		}
	}
}

func readClaimTypes(r *reader, v value, e *Environment) {
	e.claimTypes = map[string]claimType{}
	for key, item := range r.pairs(v) {
		var ct claimType
		readObject(r, item, claimTypeFields, &ct)
		e.claimTypes[key.Value] = ct
	}
}

func readTLS(r *reader, v value, e *Environment) {
	readObject(r, v, tlsFields, &e.tls)
	e.tls.where = r.at(v.Node)
	if hasKey(v, "cert") != hasKey(v, "key") {
		r.wrong(v.Node, "missing-key", "a client certificate needs both “cert” and “key”")
	}
}
