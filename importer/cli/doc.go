// Package cli is the command line: it wires the packages together and is the
// only one that does.
//
//	app.go        Main: arguments in, exit code out
//	exit.go       the exit codes, decided in one place
//	memory.go     how much memory a run may take
//	say.go        what is printed, and how
//	options.go    the flags that commands share; guards.go those that lift a guard
//	workspace.go  the files of a run: environments, state folder, kept input
//	setup.go      mapping, environment, sheet and templates, all problems at once
//	books.go      the ledgers of a run
//	aside.go      the private files of a run
//	run.go        claimsheet run, the whole import on one screen; running.go has its
//	              stages, part.go and source.go its sheets
//	workbook.go   the results workbooks of a run; target.go says where they may go,
//	              again.go which command goes on
//	unknown.go    answers that no errors rule explains, at the end of a run
//	private.go    a state folder that is this user's alone; core_*.go no core files
//	emergency.go  when the ledger cannot be written
//	rerun.go      claimsheet rerun: a run whose sheet is a results workbook
//	              (origin, resultsheet, stepsheet, recall)
//	attend.go     what a run has about it that nobody need watch: log.go (outlet),
//	              progress.go (bar), complete.go, archive.go, tell.go
//	check.go      claimsheet check
//	desk.go       work on the ledger without a sheet: settle.go (settle_list,
//	              settle_words) and link.go (link_find)
//	report.go     claimsheet report (report_find): a run's workbook from its memo
//	history.go    claimsheet history: runs, a client (client, words), purge and
//	              forget (inputs)
//	templates.go  claimsheet templates
//	init.go       claimsheet init
//	schema.go     claimsheet schema
//	doctor.go     claimsheet doctor
//	sandbox.go    claimsheet sandbox, and the sandbox inside a run
//
// Nothing below Main ends the process or touches its standard streams.
package cli
