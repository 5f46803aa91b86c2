package cli

import (
	"net"
	"time"

	"claimsheet/importer"
)

// hooks are what tests put between the parts of a run, and builds with the tag trial. The program has nothing there.
var hooks = struct {
	wrap    func(net.Conn) net.Conn // as apiclient.Config.Wrap
	job     func(*importer.Job)     // changes the job of a run
	silence time.Duration           // how long a session of a shared ledger may be silent; 0 for the usual time
}{job: func(*importer.Job) {}}
