//go:build !trial

package cli

import (
	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger/postgres"
)

// seams are where a trial build puts something between the parts of a run (see
// seams_trial.go). In the program they return what they are given.
type seams struct{}

// options sees the options of a run before anything is done with them.
func (*seams) options(o runOptions) runOptions { return o }

// connection sees how the service is reached.
func (*seams) connection(c load.Connection) load.Connection { return c }

// sharing sees how the run shares the ledger.
func (*seams) sharing(s *postgres.Sharing) *postgres.Sharing { return s }

// job sees the engine's job with its ledger, its service and its clock.
func (*seams) job(j *importer.Job) *importer.Job { return j }
