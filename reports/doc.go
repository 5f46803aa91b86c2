// Package reports shows what happened: it turns the results of a run into a
// workbook, a summary for a terminal, and one line of JSON.
//
//	book.go      Book ─▶ file: what a workbook shows, written whole or not at all
//	workbook.go  the file under construction; verify.go reads it back
//	page.go      a sheet: excelize's, but for its rows (rows, links, archive)
//	table.go     a sheet of rows below a header
//	results.go   the sheet Results: every source row with what became of it
//	             (columns; source: a source cell, its value, type and format
//	             kept; ruler: how wide its columns are)
//	marks.go     invalid cells, marked and explained
//	places.go    where the source's cells will be, before Results is written
//	steps.go     the sheet Steps, plan.go the sheet Plan of a dry run in its
//	             place, problems.go the sheet Problems
//	overview.go  the sheet Summary, with its chart
//	style.go     how cells look (colour, quote)
//	csv.go       Book ─▶ CSV file, for reading only
//	atomic.go    a file appears whole or not at all
//	binding.go   what ties a workbook to ledger, environment, mapping and input
//	list.go      a plain workbook of texts, which nothing reads back
//	target.go    which file may be written where
//	terminal.go  the end of a run in plain words, and as JSON
//	notice.go    the same, posted to a receiver; metrics.go for Prometheus
//
// A workbook is a projection: nothing in it is known only here. It holds
// personal data and redirect urls, so files are 0600. Summaries and errors hold
// neither.
//
// Memory does not grow with the rows: they stream into the archive while they
// are made. A dry run keeps twelve bytes for each client, and links are kept up
// to the most that a sheet may have.
package reports
