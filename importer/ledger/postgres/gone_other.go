//go:build !unix

package postgres

// gone is not known on this system.
func gone(int) bool { return false }
