package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Lines returns the proposals as lines of an environment: wire, not_found and errors, as
// far as they are to be set; "" for none.
func (r Report) Lines() string {
	var wire, notFound, rules []string
	for _, p := range r.Proposals {
		switch key, isWire := strings.CutPrefix(p.Key, "wire."); {
		case isWire:
			wire = append(wire, key+": "+p.Value)
		case p.Key == "not_found":
			notFound = append(notFound, p.Value)
		default:
			rules = append(rules, p.Value)
		}
	}
	lines := ""
	if len(wire) > 0 {
		slices.Sort(wire)
		lines += "wire: {" + strings.Join(wire, ", ") + "}\n"
	}
	if len(notFound) == 1 {
		lines += "not_found: " + notFound[0] + "\n"
	} else if len(notFound) > 1 {
		lines += "not_found: [" + strings.Join(notFound, ", ") + "]\n"
	}
	if len(rules) > 0 {
		lines += "errors:\n  - " + strings.Join(rules, "\n  - ") + "\n"
	}
	return lines
}

// Text returns the report for people: what differs first, then what to write into the
// environment and why, then every case.
func (r Report) Text() string {
	var b strings.Builder
	sent := "GETs only"
	if r.Sent {
		sent = "with a test client"
	}
	fmt.Fprintf(&b, "Environment %s, version %s, %s. Cases %s.\n", r.Target, strings.TrimPrefix(r.Version, "v"), sent, r.counts())
	if len(r.Created) > 0 {
		fmt.Fprintf(&b, "Created for the test client: %s. Ask the service's operator to remove it.\n", strings.Join(r.Created, ", "))
	}
	if lines := r.Lines(); lines == "" {
		b.WriteString("\nNothing is to be written into the environment, as far as was tried.\n")
	} else {
		fmt.Fprintf(&b, "\nWrite into the environment %s of environments.yaml:\n\n%s", r.Target, indented(lines))
		b.WriteString("\nbecause:\n\n")
		for _, p := range r.Proposals {
			fmt.Fprintf(&b, "  %s: %s\n      %s\n", p.Key, p.Value, p.Evidence)
		}
	}
	for _, v := range []Verdict{Differs, NotTried, NotShown, AsDocumented} {
		shown := false
		for _, c := range r.Cases {
			if c.Verdict != v {
				continue
			}
			if !shown {
				fmt.Fprintf(&b, "\n%s\n\n", strings.ToUpper(string(v[:1]))+string(v[1:]))
				shown = true
			}
			b.WriteString(c.text())
		}
	}
	return b.String()
}

// counts says how many cases ended in which way.
func (r Report) counts() string {
	var list []string
	for _, v := range []Verdict{AsDocumented, Differs, NotShown, NotTried} {
		n := 0
		for _, c := range r.Cases {
			if c.Verdict == v {
				n++
			}
		}
		if n > 0 {
			list = append(list, fmt.Sprintf("%s: %d", v, n))
		}
	}
	return strings.Join(list, ", ")
}

func (c Case) text() string {
	text := "  " + c.Name + " (document, “" + c.Section + "”)\n"
	for _, line := range [][2]string{{"request", c.Request}, {"document", c.Expected}, {"answer", c.Came}, {"so", c.Note}} {
		if line[1] != "" {
			text += fmt.Sprintf("      %-9s %s\n", line[0], line[1])
		}
	}
	return text
}

func indented(lines string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n    ") + "\n"
}
