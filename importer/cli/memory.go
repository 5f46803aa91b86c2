package cli

import "runtime/debug"

// roomyMemory lets the program use memory while there is little of it in use,
// and clean up the more often the nearer it comes to 160 MiB: a sheet of a
// million rows stays well below 256 MiB, and a small one is gone through with
// less cleaning. GOGC or GOMEMLIMIT in the environment decide otherwise.
func roomyMemory(env func(string) string) {
	if env("GOGC") == "" && env("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(160 << 20)
	}
}
