package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// State is the state of a step in a results workbook.
type State string

// The states. A step that the workbook does not list is Pending.
const (
	Done      State = "done"
	Failed    State = "failed"    // not created for sure
	Uncertain State = "uncertain" // may have been created
	Pending   State = "pending"   // not started
)

// Said is what a results workbook says about one step.
type Said struct {
	State State
	ID    string // of a client or claim; an activity's may be ""
	URL   string // redirect url of a v1 client or a link
}

// Verdict lists the steps, by logical name, about which workbook and service
// disagree. The program promises that all lists are empty.
type Verdict struct {
	SilentDup   []string // created more than once
	LostID      []string // created, but the workbook does not say so or has no id
	WrongID     []string // the workbook has another id or url than the service gave
	FalseFailed []string // created, but the workbook says that it failed
}

// OK reports whether the promise was kept.
func (v Verdict) OK() bool {
	return len(v.SilentDup)+len(v.LostID)+len(v.WrongID)+len(v.FalseFailed) == 0
}

// String shows the lists.
func (v Verdict) String() string {
	return fmt.Sprintf("silent_dup=%q lost_id=%q wrong_id=%q false_failed=%q", v.SilentDup, v.LostID, v.WrongID, v.FalseFailed)
}

// Check compares what was created with what a results workbook says, by the logical
// names of steps (see Made). A client that the service knew before (AddClient) may
// be Done with its id.
func (s *Server) Check(said map[string]Said) Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	var v Verdict
	for _, step := range slices.Sorted(maps.Keys(s.made)) {
		things := s.made[step]
		if len(things) > 1 {
			v.SilentDup = append(v.SilentDup, step)
		}
		switch word := said[step]; word.State {
		case Done:
			if word.ID == "" && word.URL == "" && !strings.HasPrefix(step, "activity ") {
				v.LostID = append(v.LostID, step)
			} else if !slices.ContainsFunc(things, word.names) {
				v.WrongID = append(v.WrongID, step)
			}
		case Failed:
			v.FalseFailed = append(v.FalseFailed, step)
		case Uncertain:
		default:
			v.LostID = append(v.LostID, step)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(said)) {
		if said[step].State == Done && len(s.made[step]) == 0 && !s.knew(step, said[step].ID) {
			v.WrongID = append(v.WrongID, step)
		}
	}
	return v
}

// names reports whether a Said describes a thing. An empty id or url matches any.
func (w Said) names(thing Made) bool {
	return (w.ID == "" || w.ID == thing.ID) && (w.URL == "" || w.URL == thing.URL)
}

func (s *Server) knew(step, id string) bool {
	c := s.clientWith(id)
	return c != nil && step == "client "+c.key
}
