package environment

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// maxSize is the largest environments file that is read, and the largest TLS file, in bytes.
const maxSize = 1 << 20

// File is an environments file without problems. A nil File stands for a missing one, and has the sandbox alone.
type File struct {
	Path    string // as the user named it
	Default string // "" for none; else the name of an entry, or sandbox

	defaultAt    yamltree.Place
	environments map[string]Environment
}

const fileName = "environments.yaml"

// Find returns the path of the environments file: flag, if it is given (whether
// the file exists or not: Load reports that), else environments.yaml beside the
// mapping; without a mapping, in the current folder. ok is false when there is no
// such file.
func Find(mappingPath, flag string) (path string, ok bool) {
	if flag != "" {
		return flag, true
	}
	path = filepath.Join(filepath.Dir(mappingPath), fileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	return path, true
}

// Names returns the names of the file's entries, sorted; sandbox only if it has an entry.
func (f *File) Names() []string {
	if f == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(f.environments))
}

// Load reads an environments file. The error joins every problem of
// the file with its place, up to 200; or one problem for a file that cannot be
// read, that is larger than 1 MiB, or that another user owns or can write to. It
// resolves no secret and opens no other file.
func Load(path string) (*File, error) {
	data, err := safefile.Read(path, maxSize)
	if p, ok := errors.AsType[problem.Problem](err); ok {
		if p.Code == "no-file" {
			p.Message = "there is no such environments file"
			p.Hint = "name one with --environments, or put environments.yaml beside the mapping"
		}
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse is Load of what a file would say.
func Parse(path string, data []byte) (*File, error) {
	f := &File{Path: path}
	root, problems := language.Read(path, data, f)
	if names := f.choices(); root != nil && f.Default != "" && !slices.Contains(names, f.Default) {
		p := problem.At(f.defaultAt.In(path), "unknown-environment",
			"“default” names “%s”, which is not an entry of environments", problem.Shorten(f.Default))
		p.Hint = problem.Suggestion(f.Default, names)
		problems = append(problems, p)
		problems.Sort()
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// Choose returns the environment of that name; "" means the file's default. The
// sandbox needs neither an entry nor a file, but it must be named: a nightly job
// must not use it because a setting is missing. An unknown name, or no name at
// all, is a problem that lists the choices. The Environment is a copy: its plain
// fields may be changed, its maps and slices are the file's.
func (f *File) Choose(name string) (*Environment, error) {
	none := f == nil
	if none {
		f = &File{}
	}
	name = cmp.Or(name, f.Default)
	if e, ok := f.environments[name]; ok {
		return &e, nil
	}
	where := problem.Where{File: f.Path}
	if name == sandbox {
		e := newEnvironment(sandbox)
		e.where = where
		return &e, nil
	}
	const beside = "put environments.yaml beside the mapping"
	unknown, choices := problem.At(where, "unknown-environment", "there is no environment “%s”", problem.Shorten(name)), f.choices()
	unknown.Hint = problem.Suggestion(name, choices)
	switch {
	case name == "" && none:
		return nil, problem.New("no-environment", "no environment is named and there is no default").
			Hinted(beside + " and name one of its environments with -e, or use -e sandbox")
	case name == "":
		return nil, problem.At(where, "no-environment", "no environment is named and there is no default").
			Hinted("name one with -e: %s", problem.OrList(choices))
	case none:
		unknown.Message += ", because there is no environments file"
		unknown.Hint = beside + ", name one with --environments, or use -e sandbox"
	case strings.HasPrefix(unknown.Hint, "did you mean"):
		unknown.Hint += " The choices are " + problem.OrList(choices)
	}
	return nil, unknown
}

// choices returns the names that Choose takes, sorted, the sandbox last.
func (f *File) choices() []string {
	names := slices.DeleteFunc(f.Names(), func(name string) bool { return name == sandbox })
	return append(names, sandbox)
}

// Schema is the JSON Schema (2020-12) of environments files, for editors. It
// knows less than Load: what depends on another key is left to that.
func Schema() []byte { return language.Schema() }

// language is the language of environments files: the tables of keys below and
// beside what the other sections are read into.
var language = yamltree.Language[File]{
	Title: "Claimsheet environments", Name: "the file", Expected: "environments", Keys: fileKeys, EmptyIsNone: true, Secretive: true,
}

func fileKeys(k *yamltree.Keys, f *File) {
	yamltree.To(k, "default", &f.Default, yamltree.Text.Placed(func(*string) *yamltree.Place { return &f.defaultAt }),
		"the environment that is used when none is named; may be sandbox")
	yamltree.To(k, "environments", &f.environments, yamltree.Map(entry), "the environments, by name")
}

var entry = func() yamltree.Value[Environment] {
	v := yamltree.Object(environmentKeys).Then(checkEntry)
	parse := v.Parse
	v.Parse = func(r *yamltree.Reader, n *yamltree.Node, e *Environment) bool {
		*e = newEnvironment(n.Key())
		return parse(r, n, e)
	}
	return v
}()

func environmentKeys(k *yamltree.Keys, e *Environment) {
	yamltree.To(k, "base_url", &e.BaseURL, baseURL, "what the service document calls {base_url}; https, or http to this machine")
	yamltree.To(k, "case_id", &e.CaseID, uuidText, "the case that version 1 works in, a UUID")
	yamltree.To(k, "auth", &e.auth, yamltree.Object(authKeys).Then(checkAuth), "how requests are authenticated; default: not at all")
	yamltree.To(k, "tls", &e.tls, yamltree.Object(tlsKeys).Then(checkTLS), "client certificate and own certificate authority, PEM files")
	yamltree.To(k, "proxy", &e.proxy, proxy, "the HTTP proxy: "+proxyWants+", or url, username and password; default: none")
	yamltree.To(k, "headers", &e.headers, headers, "headers of every request; a value may be a secret")
	yamltree.To(k, "limits", &e.settings, yamltree.Object(limitKeys), "how much the service can take")
	yamltree.To(k, "ledger", &e.ledger, ledgerURL,
		"the PostgreSQL database that keeps the ledger: "+ledgerWants+" without a password, or a secret; default: a file in the state folder; see docs/scale.md")
	yamltree.To(k, "wire", &e.Wire, yamltree.Object(wireKeys), "where answers carry what the service document leaves open")
	yamltree.To(k, "not_found", &e.NotFound.Rules, notFound,
		"how a look-up says that it found nobody: a rule or a list of rules; default {status: [404], empty: true}")
	yamltree.To(k, "errors", &e.Rules, rules, "what answers mean, before the built-in meaning")
	yamltree.To(k, "repeatable", &e.Repeatable, yamltree.List(yamltree.OneOf(apiclient.CreateClaim, apiclient.CreateActivity, apiclient.CreateLink)),
		"kinds of step that may be sent again when uncertain; a client is looked up instead")
	yamltree.To(k, "tracking", &e.Tracking, yamltree.Object(trackingKeys),
		"how the service says what clients have completed; see docs/tracking.md")
	yamltree.To(k, "workflow_template_identifier", &e.WorkflowTemplateIdentifier, yamltree.Text,
		"the default for mappings that name none (version 2)")
	yamltree.To(k, "template_ids", &e.TemplateIDs, yamltree.Map(uuidText),
		"“Template” or “Template/Attribute” and its id, only where a name is shared")
	yamltree.To(k, "claim_types", &e.claimTypes, yamltree.Map(yamltree.Object(claimTypeKeys)), "what differs between claim types, by name")
}

func claimTypeKeys(k *yamltree.Keys, c *Environment) {
	yamltree.To(k, "case_id", &c.CaseID, uuidText, "the case that version 1 works in for this claim type, a UUID")
	yamltree.To(k, "template_ids", &c.TemplateIDs, yamltree.Map(uuidText), "as in the environment; added to those")
	yamltree.To(k, "workflow_template_identifier", &c.WorkflowTemplateIdentifier, yamltree.Text, "in place of the environment's")
}

// limitKeys are how much a service can take. The service document shows no limits (section "Limits"), so these are
// the operator's to set.
func limitKeys(k *yamltree.Keys, l *settings) {
	yamltree.To(k, "requests_per_second", &l.RequestsPerSecond, rate, "a ceiling over all requests; default: none")
	yamltree.To(k, "concurrency", &l.Concurrency, yamltree.Int(1, 256), "how many requests may be in flight at the service; default 8")
	yamltree.To(k, "timeout", &l.Timeout, timeout, "how long a request that creates something may wait for its answer; default 120s")
}

// networkKeys make sense only for a service that is reached over the network.
var networkKeys = []string{"base_url", "case_id", "auth", "tls", "proxy", "headers", "ledger"}

var environmentName = regexp.MustCompile(`^[\pL\pN_-]+$`)

// checkEntry checks what depends on several keys of an environment.
func checkEntry(r *yamltree.Reader, n *yamltree.Node, e *Environment) {
	e.where, e.NotFound.Stated = r.Where(n.KeyAt()), n.Given("not_found") != nil
	if !environmentName.MatchString(e.Name) {
		r.WrongAt(n.KeyAt(), "environment-name", "an environment's name is letters, digits, - and _: files and folders have it").
			Hint = "for example uat or live-2"
	}
	if e.Sandbox {
		// Such an entry was most likely meant to be a real environment, which must not be mistaken for a sandbox.
		for _, v := range n.Values() {
			if slices.Contains(networkKeys, v.Key()) {
				r.WrongAt(v.KeyAt(), "sandbox-key", "%s makes no sense for the sandbox, which is part of this program", v.Name()).
					Hint = "remove it, or give the environment another name"
			}
		}
		return
	}
	if n.Given("base_url") == nil {
		r.WrongAt(n.KeyAt(), "missing-key", "environment “%s” needs “base_url”: what the service document calls {base_url}", problem.Shorten(e.Name))
	}
	if base, err := apiclient.NormaliseBaseURL(e.BaseURL); err == nil {
		e.BaseURL = base
	}
	if given := n.Given("proxy"); given != nil && strings.HasPrefix(e.BaseURL, "http:") {
		r.WrongAt(given.KeyAt(), "proxy-loopback", "a service on this machine that is reached by http cannot be behind a proxy").
			Hint = "leave “proxy” out, or correct “base_url”"
	}
}

// matching is a text that matches a pattern; wants and must say what it must be.
func matching(code, wants string, schema yamltree.Schema, pattern, must, hint string) yamltree.Value[string] {
	whole := regexp.MustCompile(pattern)
	return yamltree.Parsed(wants, schema, func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		ok := whole.MatchString(n.Text())
		if !ok {
			r.Wrong(n, code, "%s must be %s", n.Name(), must).Hint = hint
		}
		return n.Text(), ok
	})
}

// uuidText is a UUID in its usual form of 36 characters, kept as it is written.
var uuidText = matching("uuid", "a UUID", yamltree.Schema{"type": "string", "format": "uuid"},
	"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", "a UUID, 36 characters such as 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11", "")

// rate is a number above 0.
var rate = yamltree.Parsed("a number", yamltree.Schema{"type": "number", "exclusiveMinimum": 0},
	func(r *yamltree.Reader, n *yamltree.Node) (float64, bool) {
		f, err := strconv.ParseFloat(n.Text(), 64)
		ok := err == nil && f > 0 && !math.IsInf(f, 0)
		if !ok {
			r.Wrong(n, "out-of-range", "%s must be a number above 0", n.Name()).Hint = "leave the key out for no ceiling"
		}
		return f, ok
	})

// timeout is from a second to an hour. It cannot be very short: a time-out
// protects nothing, and makes uncertain what would have been known a moment
// later.
var timeout = yamltree.Parsed("a duration such as 120s", yamltree.Text.Schema,
	func(r *yamltree.Reader, n *yamltree.Node) (time.Duration, bool) {
		d, err := time.ParseDuration(n.Text())
		switch {
		case err != nil:
			r.Wrong(n, "duration", "%s must be a duration with a unit", n.Name()).Hint = "write it as 90s, 2m or 1m30s"
		case d < time.Second || d > time.Hour:
			r.Wrong(n, "out-of-range", "%s must be from 1s to 1h", n.Name())
		default:
			return d, true
		}
		return 0, false
	})
