package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/convert"
)

// The tests of this file are the mapping's part of docs/security.md, by the
// names of its items.

// C-1: a mapping that is a bomb, nested without end, repeats a key or has one
// that is not known is refused, and soon.
func TestC1_HostileMappings(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'z'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+p+", ", 9) + "*" + p + "]\n"
	}
	const head = "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\n"
	for name, test := range map[string]struct{ text, code string }{
		"bomb":          {bomb, ""},
		"nesting":       {strings.Repeat("[", 200_000), ""},
		"duplicate key": {head + "name: b\n", "duplicate-key"},
		"unknown key":   {head + "nmae: b\n", "unknown-key"},
		"too large":     {head + strings.Repeat("#", mapping.MaxSize), "too-large"},
	} {
		_, problems := mapping.Parse("mapping.yaml", []byte(test.text))
		if len(problems) == 0 || test.code != "" && problems[0].Code != test.code {
			t.Errorf("%s: %v, want %s", name, problems, test.code)
		}
	}
}

// N-5: what becomes part of a look-up's path is an e-mail address or a phone
// number, and nothing else.
func TestN5_ContactsAreChecked(t *testing.T) {
	email := convert.Converter{Type: convert.Email}
	phone := convert.Converter{Type: convert.Phone, Region: "GB"}
	for _, value := range []string{
		"a@b@example.com", "a@example.com\r\nX: y", "a\x00@example.com", "@example.com", "a@", "../../admin", "a@..", "?x=1",
		strings.Repeat("a", 250) + "@example.com", "a@-example-.com",
	} {
		if got, refusal := email.Convert(text(value)); refusal == nil {
			t.Errorf("the e-mail address %q became %q", value, got.Literal)
		}
	}
	for _, value := range []string{"../admin", "12", "+4479111234567890123", "call me", "%2e%2e", "0", "++"} {
		if got, refusal := phone.Convert(text(value)); refusal == nil {
			t.Errorf("the phone number %q became %q", value, got.Literal)
		}
	}
}
