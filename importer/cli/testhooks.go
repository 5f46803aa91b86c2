package cli

import (
	"time"

	"claimsheet/importer"
	"claimsheet/importer/cli/load"
)

// hooks are where importer/cli/trial puts something between the parts of a run: in
// tests, and in a build with the tag trial. In the program they return what they are
// given.
var hooks interface {
	Connection(load.Connection) load.Connection
	// Silence returns how long a session of a shared ledger may be silent, 0 for the usual time.
	Silence() time.Duration
	Job(*importer.Job) *importer.Job
} = noHooks{}

type noHooks struct{}

func (noHooks) Connection(c load.Connection) load.Connection { return c }
func (noHooks) Silence() time.Duration                       { return 0 }
func (noHooks) Job(j *importer.Job) *importer.Job            { return j }
