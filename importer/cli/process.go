package cli

import "runtime/debug"

// SetUpProcess sets up the process that runs Main: it has no core file, which could
// hold secrets and personal data, and a garbage collector that uses memory freely
// up to 160 MiB. With it a sheet of a million rows needs less than 256 MiB, and
// small sheets are imported faster. GOGC or GOMEMLIMIT in the environment overrule
// the collector's settings. main calls it once; Main does not change the process.
func SetUpProcess(env func(name string) string) {
	disableCore()
	if env("GOGC") == "" && env("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(160 << 20)
	}
}
