// Package importer carries plans out and remembers. A Plan goes in, an Outcome
// comes out; between the two stand the ledger, which knows what is done, and
// the service, which is asked for the rest.
//
//	survey.go    the first pass over a sheet: which rows make one client
//	             (the rows are in importer/spool)
//	vet.go       refuses what would do it all again
//	spelling.go  clients and steps that the ledger has under keys as older rules folded them
//	job.go       a run: many clients side by side, bounded; guard.go stops and pauses it
//	decide.go    Plan + what the ledger knows ─▶ what is to be done for each step; pure
//	             (asked.go: what a step asks for, and how it differs from before)
//	walk.go      a client's steps in order, and which of them wait
//	execute.go   one client in one worker: intent, request, outcome
//	             (request.go, patience.go, patiently.go: what is sent, and when again;
//	             conflict.go: a 409 after an attempt that may have worked)
//	acquaint.go  does the service know the client? (people.go) greet.go acts on it, in
//	             its turn (meet.go); reconcile.go settles clients whose creation is
//	             uncertain, by what was sent (doubtful.go)
//	holder.go    whose an id, a url or an address is
//	reread.go    kept answers, read again after a wire pointer is corrected
//	forecast.go  a dry run: the same decisions, nothing sent; importer/spool has its results
//	progress.go  how far a run has come, for whoever watches
//	outcome.go   what became of a client and its rows; record.go puts it
//	             where the workbook is made from
//	erased.go    clients who were erased, of whom nothing is known any more
//	fault.go     a panic, without what it held
//
// Failures of rows are data: they stand in outcomes. A Go error means that the
// run cannot go on.
package importer
