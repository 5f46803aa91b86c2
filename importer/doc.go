// Package importer carries plans out. A plan of API calls goes in for each client
// of a sheet; what became of the client and of each of its rows comes out.
//
// A Survey groups the rows of a sheet by client and yields the plans. Before
// anything is sent, Job.CheckIdentity refuses a mapping that would create again,
// under other names, what the ledger says is done. Job.Do then takes the plans one
// by one: the ledger says what is done, the service says which clients it knows
// already, decide says what is missing, and that is created, step by step. Each
// request is recorded in the ledger before it leaves and again when its outcome is
// known, so a run that is killed loses nothing, and the next run does the rest.
// Whatever cannot be proved to have failed is uncertain and is never sent again
// without somebody's decision. A guard ends or pauses a run whose answers say that
// no other request will fare better.
//
// Job.Forecast is a dry run: the same code with effects that create nothing.
//
// Failures of rows are data: they are in the results. A Go error means that the
// run cannot go on.
package importer
