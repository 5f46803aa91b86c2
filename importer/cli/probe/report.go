package probe

import (
	"fmt"
	"strings"
)

// Text is the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The environment “%s”, version %s, at %s\n\nAsked\n", r.Environment, strings.TrimPrefix(r.Version, "v"), r.Service)
	for _, a := range r.Asked {
		fmt.Fprintf(&b, "\n  %s\n    %s\n    %s\n    → %s\n", a.About, a.Request, a.Answer, a.So)
	}
	if len(r.Unknown) > 0 {
		b.WriteString("\nNot learnt\n")
		for _, u := range r.Unknown {
			fmt.Fprintf(&b, "\n  %s\n    %s\n    → %s\n", u.What, u.Why, u.Do)
		}
	}
	if len(r.Lines) == 0 {
		b.WriteString("\nNothing is to be written into the environment.\n")
		return b.String()
	}
	b.WriteString("\nTo be written into the environments file\n\n" + r.yaml())
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
		fmt.Fprintf(&b, "%s%s: %s\n", indent, key, l.Value) // JSON is YAML
	}
	return b.String()
}
