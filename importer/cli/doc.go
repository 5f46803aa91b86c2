// Package cli is the command line: it connects the other packages and is the
// only package that does. Each command is in the file of its name; app.go has
// Main, flags.go the flags that commands share, exit.go the exit codes.
//
// Nothing below Main ends the process or writes to its standard streams.
package cli
