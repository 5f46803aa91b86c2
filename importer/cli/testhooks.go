package cli

import (
	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger/postgres"
)

// hooks are where importer/cli/trial puts something between the parts of a run: in
// tests, and in a build with the tag trial. In the program they return what they are
// given.
var hooks interface {
	// LedgerMayBeLost reports whether the run is to take a lost ledger for a new one.
	LedgerMayBeLost() bool
	Connection(load.Connection) load.Connection
	Sharing(*postgres.Sharing) *postgres.Sharing
	Job(*importer.Job) *importer.Job
} = noHooks{}

type noHooks struct{}

func (noHooks) LedgerMayBeLost() bool                         { return false }
func (noHooks) Connection(c load.Connection) load.Connection  { return c }
func (noHooks) Sharing(s *postgres.Sharing) *postgres.Sharing { return s }
func (noHooks) Job(j *importer.Job) *importer.Job             { return j }
