//go:build !unix

package cli

// disableCore does nothing: this system writes no core files.
func disableCore() {}
