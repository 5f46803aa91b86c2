// Package importer carries plans out. A plan of API calls goes in for each client of a sheet;
// what became of the client and of each of its rows comes out.
//
// A Survey groups the rows of a sheet by client, and the clients who share an address, and
// yields the plans. Before anything is sent, Job.CheckIdentity refuses a mapping that would
// create again, under other names, what the ledger says is done. Job.Do then takes the plans
// group by group: the ledger says what is done, the service says which clients it knows
// already, decide says what is missing, and that is created, step by step. Each request is
// recorded in the ledger before it leaves and again when its outcome is known, so a run that
// is killed leaves a few steps in doubt, and the next run does the rest. Whatever cannot be proved to have
// failed is uncertain and is never sent again without a decision. A guard ends or
// pauses a run whose answers say that no other request will fare better.
//
// Job.Forecast is a dry run: the same code with an overlay of the ledger, and nothing is
// created. Job.Project shows what the ledger knows now, and asks the service nothing.
//
// Failures of rows are data: they are in the results. A Go error means that the run cannot go
// on.
//
// Each file uses only those that stand before it here:
//
//	project.go   what became of steps, rows and clients, in words and counts
//	lookup.go    the service, as the engine uses it; which clients it knows, as its answers to look-ups say
//	wanted.go    what a step asks for, its request, and what differs from what was sent
//	decide.go    what is to be done about each step, given what the ledger knows
//	fault.go     a panic as an error, without the values that it was about
//	survey.go    the first pass: rows of a client, clients of a group, ids of the sheet
//	guard.go     when what was observed stops or pauses a run, in all its processes; one client goes first
//	job.go       a run: what it is given, and what its clients share
//	step.go      one client at work: events become durable, and outcomes and lines are made of them
//	person.go    who a client is: ledger, id of the sheet, earlier attempt, look-up
//	client.go    the plan of one client, with its further contacts; a request is sent
//	group.go     clients who belong together, one after the other
//	identity.go  what would create everything again is refused
//	workers.go   groups are handed over to other processes, and carried out for them
//	run.go       Do and Project: all groups
//	dryrun.go    Forecast, and the overlay of the ledger
package importer
