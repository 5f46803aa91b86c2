package cli

import (
	"slices"
	"sync"

	"claimsheet/apiclient/sandbox/fault"
	"claimsheet/apiclient/sandbox/pages"
	"claimsheet/mapping/problem"
)

// faultSwitch is the faults of a sandbox for the page that switches them.
type faultSwitch struct {
	handler   *fault.Handler
	endpoints []string

	mu    sync.Mutex // guards known
	known []switchedRule
}

// switchedRule is a rule that is or was on.
type switchedRule struct {
	tally fault.Tally // as it was when the rule was last on
	on    bool
}

// refresh brings the tallies up to date, and adds the rules of --fault. The caller
// holds mu.
func (f *faultSwitch) refresh() {
	for _, now := range f.handler.Tallies() {
		if i := f.index(now.Rule); i >= 0 {
			f.known[i].tally = now
		} else {
			f.known = append(f.known, switchedRule{now, true})
		}
	}
}

func (f *faultSwitch) index(rule fault.Rule) int {
	return slices.IndexFunc(f.known, func(k switchedRule) bool { return k.tally.Rule == rule })
}

// Rules implements pages.Faults, as the methods below do.
func (f *faultSwitch) Rules() []pages.FaultRule {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	var list []pages.FaultRule
	for _, k := range f.known {
		list = append(list, pages.FaultRule{Rule: k.tally.Rule.String(), On: k.on, Matched: k.tally.Matched, Played: k.tally.Played})
	}
	return list
}

func (f *faultSwitch) Switch(text string, on bool) error {
	rules, err := readFaults([]string{text}, f.endpoints)
	if list, ok := err.(problem.List); ok && len(list) > 0 {
		return problemOnPage(list[0])
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	i := f.index(rules[0])
	if i < 0 {
		i = len(f.known)
		f.known = append(f.known, switchedRule{tally: fault.Tally{Rule: rules[0]}})
	}
	f.known[i].on = on
	var present []fault.Rule
	for _, k := range f.known {
		if k.on {
			present = append(present, k.tally.Rule)
		}
	}
	f.handler.Set(present)
	return nil
}

// problemOnPage is a problem as a sentence or two of a web page.
type problemOnPage problem.Problem

func (p problemOnPage) Error() string {
	if p.Hint == "" {
		return p.Message + "."
	}
	return p.Message + "; " + p.Hint + "."
}

func (f *faultSwitch) Targets() []string {
	return append(slices.Clone(f.endpoints), "* *")
}

func (f *faultSwitch) Kinds() []pages.FaultKind {
	var kinds []pages.FaultKind
	for _, k := range fault.Kinds() {
		kinds = append(kinds, pages.FaultKind{Word: string(k.Kind), About: k.About})
	}
	return kinds
}
