package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// environment is the environment as its file has it with the lines so far.
func (p *prober) environment() (*environment.Environment, error) {
	if p.File == nil && len(p.Lines) == 0 {
		return p.Session.Env, nil
	}
	text, err := Patched(p.File, p.Environment, p.Lines)
	if err != nil {
		return nil, err
	}
	file, err := environment.Parse(p.Path, text)
	if err != nil {
		return nil, err
	}
	env, err := file.Choose(p.Environment)
	if err != nil {
		return nil, err
	}
	return env.ForClaimType(p.Session.Mapping.ClaimType.Text)
}

var style = yamlpatch.Style{"environments", "wire"}

// Patched is an environments file with lines in an environment. Everything else stays as it is.
func Patched(file []byte, name string, lines []Line) ([]byte, error) {
	doc, err := yamlpatch.Read(file)
	if err != nil {
		return nil, err
	}
	var operations []yamlpatch.Operation
	added := map[string]bool{}
	add := func(value json.RawMessage, path ...string) {
		if _, there := doc.Value(path...); there && string(value) == "{}" || added[yamlpatch.Pointer(path...)] {
			return
		}
		added[yamlpatch.Pointer(path...)] = true
		operations = append(operations, yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer(path...), Value: value})
	}
	add([]byte("{}"), "environments")
	add([]byte("{}"), "environments", name)
	for _, l := range lines {
		section, key, inside := strings.Cut(l.Key, ".")
		var rules []json.RawMessage
		switch _, there := doc.Value("environments", name, section); {
		case inside:
			add([]byte("{}"), "environments", name, section)
			add(l.Value, "environments", name, section, key)
		case section == "errors" && there && json.Unmarshal(l.Value, &rules) == nil:
			for _, rule := range rules {
				operations = append(operations, yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer("environments", name, section, "-"),
					Value: rule})
			}
		default:
			add(l.Value, "environments", name, section)
		}
	}
	text, err := yamlpatch.Apply(file, style, operations...)
	if err != nil {
		return nil, problem.New("probe-write", "the lines cannot be put into the environments file: %v", err).
			Hinted("leave --write out, and write them by hand")
	}
	return text, nil
}

// Write puts the lines into the environments file.
func (r *Report) Write(o Options) error {
	text, err := Patched(o.File, r.Environment, r.Lines)
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(o.Path); err != nil || !bytes.Equal(now, o.File) {
		return problem.At(problem.Where{File: o.Path}, "probe-write", "the environments file has changed since the probe began").
			Hinted("probe again: nothing is created twice")
	}
	if err := safefile.Replace(o.Path, text, 0o644, os.Rename); err != nil {
		return problem.At(problem.Where{File: o.Path}, "output-no-access", "the environments file cannot be written: %v", problem.Cause(err)).
			Hinted("write the lines by hand")
	}
	r.Written = true
	return nil
}

// Text is the report for people.
func (r *Report) Text(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The environment “%s”, version %s, at %s\n\nAsked\n", r.Environment, strings.TrimPrefix(r.Version, "v"), r.Service)
	for _, a := range r.Asked {
		fmt.Fprintf(&b, "\n  %s\n    %s\n    %s\n    → %s\n", a.About, a.Request, a.Answer, a.So)
	}
	if len(r.Times) > 0 {
		b.WriteString("\nAnswer times\n\n")
		for _, t := range r.Times {
			fmt.Fprintf(&b, "  %-10s  median %d ms, slowest %d ms, of %d\n", t.Kind, t.Median, t.Slowest, t.Answers)
		}
	}
	if len(r.Created) > 0 {
		b.WriteString("\nThe test client has in the service\n\n")
		for _, c := range r.Created {
			when := "created before"
			if c.New {
				when = "created now"
			}
			b.WriteString(strings.TrimRight(fmt.Sprintf("  %-14s  %s  %s", when, c.What, c.ID), " ") + "\n")
		}
	}
	if len(r.Unknown) > 0 {
		b.WriteString("\nNot learnt\n")
		for _, u := range r.Unknown {
			fmt.Fprintf(&b, "\n  %s\n    %s\n    → %s\n", u.What, u.Why, u.Do)
		}
	}
	switch name := filepath.Base(path); {
	case len(r.Lines) == 0:
		b.WriteString("\nNothing is to be written into the environment.\n")
		return b.String()
	case r.Written:
		fmt.Fprintf(&b, "\nWritten into %s\n\n", name)
	default:
		fmt.Fprintf(&b, "\nTo be written into %s; --write does it\n\n", name)
	}
	b.WriteString(r.yaml())
	return b.String()
}

// yaml is the lines as the environments file has them, each below its evidence.
func (r *Report) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "environments:\n  %s:\n", r.Environment)
	section := ""
	for _, l := range r.Lines {
		indent, key := "    ", l.Key
		if outer, inner, ok := strings.Cut(l.Key, "."); ok {
			if outer != section {
				fmt.Fprintf(&b, "    %s:\n", outer)
			}
			section, indent, key = outer, "      ", inner
		}
		for evidence := range strings.Lines(l.Evidence) {
			fmt.Fprintf(&b, "%s# %s\n", indent, strings.TrimSuffix(evidence, "\n"))
		}
		text, err := yamlpatch.Apply(nil, nil, yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer(key), Value: l.Value})
		if err != nil {
			text = fmt.Appendf(nil, "%s: %s\n", key, l.Value) // JSON is YAML
		}
		for line := range strings.Lines(string(text)) {
			b.WriteString(indent + line)
		}
	}
	return b.String()
}
