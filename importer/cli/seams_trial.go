//go:build trial

package cli

import (
	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/trial"
	"claimsheet/importer/ledger/postgres"
)

// seams are those of a trial build.
type seams struct{ trial trial.Trial }

func (*seams) options(o runOptions) runOptions {
	o.newLedger = o.newLedger || trial.LostLedgerBelieved.Planted()
	return o
}

func (s *seams) connection(c load.Connection) load.Connection {
	c.Wrap, c.Now = s.trial.Wrap, trial.Now
	return c
}

func (*seams) sharing(s *postgres.Sharing) *postgres.Sharing { return trial.Sharing(s) }

func (s *seams) job(j *importer.Job) *importer.Job { return s.trial.Job(j) }
