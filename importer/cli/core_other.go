//go:build !unix

package cli

// noCore does nothing: this system writes no core files.
func noCore() {}
