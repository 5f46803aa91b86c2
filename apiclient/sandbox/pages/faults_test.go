package pages_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/sandbox/pages"
)

// faults note what is switched; a rule with a < is refused.
type faults struct {
	rules    []pages.FaultRule
	switched []string
}

func (f *faults) Rules() []pages.FaultRule { return f.rules }

func (f *faults) Switch(rule string, on bool) error {
	if strings.Contains(rule, "<") {
		return errors.New("“" + rule + "” is not a fault.")
	}
	state := " off"
	if on {
		state = " on"
	}
	f.switched = append(f.switched, rule+state)
	return nil
}

func (f *faults) Targets() []string { return []string{"POST /claims", "* *"} }

func (f *faults) Kinds() []pages.FaultKind {
	return []pages.FaultKind{{Word: "busy", About: "answers HTTP 429"}, {Word: "slow", About: "answers later"}}
}

// TestFaultsAreSwitched: the buttons and the form switch rules, and the page shows what
// each has done.
func TestFaultsAreSwitched(t *testing.T) {
	t.Parallel()
	f := &faults{rules: []pages.FaultRule{{Rule: "POST /claims:5%:busy", On: true, Matched: 20, Played: 2}, {Rule: "* *:3rd:slow"}}}
	h := pages.New(sample())
	h.SwitchFaults(f)
	p := ask(t, h, h.FaultsPath())
	var rows []string
	for _, row := range find(find(p.root, tag("tbody"))[0], tag("tr")) {
		rows = append(rows, text(row))
	}
	same(t, "rules", []string{"POST /claims:5%:busy On 20 2 Switch off POST /claims:5%:busy", "* *:3rd:slow Off 0 0 Switch on * *:3rd:slow"}, rows)
	for _, form := range find(p.root, tag("form")) {
		values := url.Values{"share": {"5%"}, "target": {"POST /claims"}, "kind": {"slow"}}
		if button := find(form, tag("button"))[0]; attr(button, "name") != "" {
			values = url.Values{attr(button, "name"): {attr(button, "value")}}
		}
		if got := submit(t, h, attr(form, "action"), values); got.status != http.StatusSeeOther || got.header.Get("Location") != h.FaultsPath() {
			t.Errorf("%v: %d, %s", values, got.status, got.header.Get("Location"))
		}
	}
	if diff := cmp.Diff([]string{"POST /claims:5%:busy off", "* *:3rd:slow on", "POST /claims:5%:slow on"}, f.switched); diff != "" {
		t.Errorf("switched (-want +got):\n%s", diff)
	}
	wrong := submit(t, h, h.FaultsPath(), url.Values{"target": {"* *"}, "share": {"<5"}, "kind": {"slow"}})
	if wrong.status != http.StatusUnprocessableEntity || !strings.Contains(text(find(wrong.root, class("summary"))[0]), "“* *:<5:slow” is not a fault.") {
		t.Errorf("a wrong rule: %d %s", wrong.status, text(wrong.root))
	}
	var chosen []string
	for _, n := range find(wrong.root, tag("option")) {
		for _, a := range n.Attr {
			if a.Key == "selected" {
				chosen = append(chosen, text(n))
			}
		}
	}
	same(t, "kept of the form", []string{"Every request", "slow: answers later"}, chosen)
}

// C-10 of docs/security.md. Without faults there is no page for them.
func TestC10_FaultsAreSwitchedHereOnly(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "null", "http://evil.test", "http://127.0.0.1:8081"} {
		f := &faults{}
		h := pages.New(sample())
		h.SwitchFaults(f)
		r := httptest.NewRequest("POST", "http://127.0.0.1:8080"+h.FaultsPath(), strings.NewReader("on=x"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if p := parse(t, h, r); p.status != http.StatusForbidden || f.switched != nil {
			t.Errorf("Origin %q: %d, switched %v", origin, p.status, f.switched)
		}
	}
	h := pages.New(sample())
	if p := ask(t, h, h.FaultsPath()); p.status != http.StatusNotFound {
		t.Errorf("without faults: %d", p.status)
	}
	if strings.Contains(text(ask(t, h, h.Dashboard()).root), "Faults on purpose") {
		t.Error("the dashboard leads to a page that is not there")
	}
}
