package environment

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient"
)

// text reads a scalar as it is written: 0012 stays 0012.
func (r *reader) text(v value) string {
	if !r.isKind(v, yaml.ScalarNode, "a text") {
		return ""
	}
	if strings.TrimSpace(v.Value) == "" {
		r.wrong(v.Node, "no-value", "%s must not be empty", v.name()).Hint = "give a value or leave the key out"
		return ""
	}
	return v.Value
}

func (r *reader) texts(v value) []string {
	var list []string
	for item := range r.items(v) {
		if t := r.text(item); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// oneOf reads a word of a closed set; "" when it is none of them.
func (r *reader) oneOf(v value, allowed []string) string {
	if !r.isKind(v, yaml.ScalarNode, orList(allowed)) {
		return ""
	}
	if slices.Contains(allowed, v.Value) {
		return v.Value
	}
	r.unknown(v.Node, "unknown-value",
		v.name()+" cannot be “"+shorten(v.Value)+"”; expected "+orList(allowed), allowed)
	return ""
}

func (r *reader) boolean(v value) bool {
	if !r.isKind(v, yaml.ScalarNode, "true or false") {
		return false
	}
	if v.ShortTag() != "!!bool" {
		r.wrong(v.Node, "wrong-kind", "%s must be true or false", v.name())
	}
	return strings.EqualFold(v.Value, "true")
}

// integer reads a whole number between least and most into i, or leaves it.
func (r *reader) integer(v value, least, most int, i *int) (ok bool) {
	if !r.isKind(v, yaml.ScalarNode, "a whole number") {
		return false
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil || n < least || n > most {
		r.wrong(v.Node, "out-of-range", "%s must be a whole number from %d to %d", v.name(), least, most)
		return false
	}
	*i = n
	return true
}

// rate reads a number above 0.
func (r *reader) rate(v value) float64 {
	if !r.isKind(v, yaml.ScalarNode, "a number") {
		return 0
	}
	f, err := strconv.ParseFloat(v.Value, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		r.wrong(v.Node, "out-of-range", "%s must be a number above 0", v.name()).Hint = "leave the key out for no ceiling"
		return 0
	}
	return f
}

func (r *reader) duration(v value, least, most time.Duration) time.Duration {
	if !r.isKind(v, yaml.ScalarNode, "a duration such as 120s") {
		return 0
	}
	d, err := time.ParseDuration(v.Value)
	switch {
	case err != nil:
		r.wrong(v.Node, "duration", "%s must be a duration with a unit", v.name()).Hint = "write it as 90s, 2m or 1m30s"
	case d < least || d > most:
		r.wrong(v.Node, "out-of-range", "%s must be from %s to %s", v.name(), briefly(least), briefly(most))
	default:
		return d
	}
	return 0
}

// briefly is a duration without the zero units of Duration.String.
func briefly(d time.Duration) string {
	s := d.String()
	s = strings.TrimSuffix(s, "m0s")
	if strings.HasSuffix(s, "h0") {
		return strings.TrimSuffix(s, "0")
	}
	if s != d.String() {
		return s + "m"
	}
	return s
}

// uuid reads a UUID in its usual form of 36 characters; it is kept as written.
func (r *reader) uuid(v value) string {
	if !r.isKind(v, yaml.ScalarNode, "a UUID") {
		return ""
	}
	if _, err := uuid.Parse(v.Value); err != nil || len(v.Value) != 36 {
		r.wrong(v.Node, "uuid", "%s must be a UUID, 36 characters such as 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11", v.name())
		return ""
	}
	return v.Value
}

// pointer reads a JSON Pointer; "" is allowed where it switches something off.
func (r *reader) pointer(v value, mayBeEmpty bool) string {
	if !r.isKind(v, yaml.ScalarNode, "a JSON Pointer such as /data/id") {
		return ""
	}
	if v.Value == "" && mayBeEmpty {
		return ""
	}
	if v.Value == "" {
		r.wrong(v.Node, "pointer", "%s must not be empty: this id or url cannot do without", v.name()).
			Hint = "leave the key out for its default"
		return ""
	}
	if err := apiclient.CheckPointer(v.Value); err != nil {
		r.wrong(v.Node, "pointer", "%s must be a JSON Pointer such as /data/id", v.name()).Hint = err.Error()
		return ""
	}
	return v.Value
}

// place reads where an answer carries an id or a url; check says what is wrong
// with it. "" is the whole body as a JSON string.
func (r *reader) place(v value, check func(string) error) string {
	if !r.isKind(v, yaml.ScalarNode, "a place in an answer such as /data/id or header:Location") {
		return ""
	}
	if err := check(v.Value); err != nil {
		r.wrong(v.Node, "pointer", "%s must be a JSON Pointer such as /data/id, text, or header:NAME", v.name()).Hint = err.Error()
		return ""
	}
	return v.Value
}

// regexp reads a regular expression, checked but kept as text.
func (r *reader) regexp(v value) string {
	t := r.text(v)
	if _, err := regexp.Compile(t); err != nil {
		r.wrong(v.Node, "regexp", "%s is not a regular expression: %s", v.name(),
			strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
			Hint = "the syntax is Go's (RE2); in YAML, single quotes keep backslashes as they are"
		return ""
	}
	return t
}

// reference reads a text that may be kept elsewhere; where it must be, a
// literal is refused.
func (r *reader) reference(v value, secret bool) reference {
	if !r.isKind(v, yaml.ScalarNode, "a text") {
		return reference{}
	}
	ref, wrong := parseReference(v.Value)
	ref.key, ref.where = v.key, r.at(v.Node)
	switch {
	case wrong != "":
		r.wrong(v.Node, "secret", "%s: %s", v.name(), wrong)
	case strings.TrimSpace(v.Value) == "":
		r.wrong(v.Node, "no-value", "%s must not be empty", v.name())
	case ref.source == literal && secret:
		r.wrong(v.Node, "literal-secret", "%s is a secret and must not be written in this file", v.name()).
			Hint = referenceHint
	case ref.source == literal && checkHeaderText(v.Value) != nil:
		r.wrong(v.Node, "control-character", "%s has a line break or another control character inside", v.name())
	}
	return ref
}
