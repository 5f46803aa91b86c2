// Package importer carries plans out and remembers. A Plan goes in, an Outcome
// comes out; between the two stand the ledger, which knows what is done, and
// the service, which is asked for the rest.
//
//	decide.go   Plan + what the ledger knows ─▶ what is to be done for each step; pure
//	execute.go  one client's steps, in order, in one worker
//	run.go      many clients side by side, bounded
//	settle…     what an operator decides of uncertain steps
//	outcome.go  what became of a client and its rows
//
// Failures of rows are data: they stand in outcomes. A Go error means that the
// run cannot go on.
package importer
