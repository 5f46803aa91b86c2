package cli

import (
	"fmt"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// takeUp enters into the ledger what earlier runs kept in emergency files, and
// says so. The lock is held, and nothing of this run is in the ledger yet.
func (p *program) takeUp(l *ledger.Ledger, places []string) error {
	n, err := importer.TakeUp(l, places)
	if n > 0 {
		fmt.Fprintf(p.Err, "claimsheet: outcomes taken up that an earlier run could not record: %d\n", n)
	}
	if found, ok := err.(problem.Problem); ok {
		return &incomplete{found}
	}
	return err
}

// foreseeTakeUp stops a dry run that would foretell what has been done already:
// the outcomes stand in emergency files, and it must not enter them.
func foreseeTakeUp(l *ledger.Ledger, places []string) error {
	n, err := importer.ToTakeUp(l, places)
	if found, ok := err.(problem.Problem); ok {
		return &incomplete{found}
	}
	if err != nil || n == 0 {
		return err
	}
	return &incomplete{problem.New("dry-run-emergency", "a dry run changes nothing, and the ledger is first to take up %d outcomes from emergency files of an earlier run", n).
		Hinted("leave --dry-run out: the run takes them up before anything else; claimsheet settle takes up those in the state folder, and sends nothing")}
}

// openEmergency prepares for a ledger that cannot be written any more.
func (p *program) openEmergency(run string, l *ledger.Ledger, places []string) *importer.Emergency {
	return importer.OpenEmergency(run, l.Path(), places, func(s importer.Salvaged) {
		what := s.Kind + " created"
		if s.ID != "" {
			what += fmt.Sprintf(", id %q", s.ID)
		}
		where := "noted nowhere else: write it down"
		if s.File != "" {
			where = "noted in " + oneLine(s.File)
		}
		fmt.Fprintf(p.Err, "claimsheet: the ledger cannot be written: %s; %s\n", what, where)
	})
}
