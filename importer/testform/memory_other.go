//go:build !linux

package testform

// inMemory is a folder in memory; only Linux has one that is known by name.
func inMemory() string { return "" }
