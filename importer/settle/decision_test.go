package settle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/settle"
	"claimsheet/mapping/problem"
)

func TestParseDecision(t *testing.T) {
	for text, want := range map[string]settle.Decision{
		"created":                      {Choice: settle.WasCreated},
		" Created ":                    {Choice: settle.WasCreated},
		"created 0b7c-AB":              {Choice: settle.WasCreated, Value: "0b7c-AB"},
		"CREATED\thttps://x.test/Go?a": {Choice: settle.WasCreated, Value: "https://x.test/Go?a"},
		"not created":                  {Choice: settle.NotCreated},
		"Not  Created":                 {Choice: settle.NotCreated},
		"give up":                      {Choice: settle.GiveUp},
		"GIVE\u00a0UP":                 {Choice: settle.GiveUp},
	} {
		got, err := settle.ParseDecision(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseDecisionRefuses(t *testing.T) {
	for _, text := range []string{"", "yes", "notcreated", "not", "give", "giveup now", "created a b", "not created 12", "0b7c", "https://x.test/secret"} {
		got, err := settle.ParseDecision(text)
		var p problem.Problem
		switch {
		case !errors.As(err, &p):
			t.Errorf("%q: %v, %v; want a problem", text, got, err)
		case p.Hint == "" || strings.Contains(p.Error(), "secret"):
			t.Errorf("%q: the problem has no hint, or quotes the cell: %v", text, p)
		}
	}
}

// FuzzParseDecision holds what is read to what was written.
func FuzzParseDecision(f *testing.F) {
	for _, seed := range []string{"created", "created id", "not created", "give up", "Created https://x.test", "created  a b", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := settle.ParseDecision(text)
		if err != nil {
			if d != (settle.Decision{}) {
				t.Errorf("%q is a problem, and yet decides %v", text, d)
			}
			return
		}
		again, err := settle.ParseDecision(strings.TrimSpace(string(d.Choice) + " " + d.Value))
		if err != nil || again != d {
			t.Errorf("%q reads as %v, which reads as %v, %v", text, d, again, err)
		}
	})
}
