// Package reports shows what happened: it turns the results of a run into a
// workbook, a summary for a terminal, and one line of JSON.
//
//	book.go     Book ─▶ file: what a workbook shows, written whole or not at all
//	results.go  the sheet Results: every source row with what became of it
//	source.go   a source cell, its value, type and format kept
//	marks.go    invalid cells of a plan, marked and explained
//	table.go    a sheet of rows; steps.go and problems.go use it
//	overview.go the sheet Summary
//	literal.go  cells that excelize cannot stream: exact numbers, error values
//	atomic.go   a file appears whole or not at all
//	binding.go  what ties a workbook to ledger, environment, mapping and input
//	target.go   which file may be written where
//	terminal.go the end of a run in plain words, and as JSON
//	notice.go   the same, posted to a receiver
//	metrics.go  the same for Prometheus
//
// A workbook is a projection: nothing in it is known only here. It holds
// personal data and redirect urls, so files are 0600. Summaries and errors hold
// neither.
//
// Memory does not grow with the sheet: rows stream through a temporary file
// into the archive.
package reports
