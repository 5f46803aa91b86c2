// Package sheet reads a spreadsheet, row by row, into mapping.Records with
// typed cells.
//
//	open.go      the Reader
//	file.go      what kind of file it is
//	archive.go   the zip file: parts by name, size limits, checksums (part)
//	scanner.go   XML tokens, one pass over bytes (buffer, attribute, unescape, tree)
//	workbook.go  which sheets there are, relations, date system (choose, properties)
//	strings.go   the shared strings
//	styles.go    cell styles: which number format a cell has
//	code.go      number format codes, token by token
//	format.go    which section of a format shows a number (section, dateparts)
//	render.go    how a number is shown (decimal, serial, iso)
//	book.go      a sheet with its header
//	pass.go      one pass over a sheet's rows (cell)
//	merges.go    merged cells
//	columns.go   columns that are hidden
//	compound.go  encrypted workbooks (agile, standard)
//	csv.go       CSV files (csv_delimiter, csv_row)
//	csv_text.go  a text file as UTF-8 (csv_encoding, gzip)
//
// The one promise above all: a row is never lost without a word. A pass
// delivers every row of the sheet that has a value in it, or ends with an
// error. So every part is read to its end and its checksum compared, the XML
// must be complete, and rows or cells that stand out of order are errors, not
// something to be repaired.
//
// What is wrong with a file is a problem.Problem whose place is the file's
// path, or a line or a cell of a CSV file. Codes: no-such-file, cannot-read,
// not-a-workbook, encrypted-workbook, wrong-password, damaged-workbook,
// workbook-too-large, sheet-not-found, empty-sheet, no-header; for a CSV file
// also not-text, unknown-delimiter, extra-field, long-field, open-quote,
// stray-quote, wrong-row, damaged-file, file-too-large. Contents of cells never
// stand in a message.
//
// Decisions about cells that a file leaves open: whether a number is a date is
// told by the section of its format that shows it; a format of elapsed time
// ([h]:mm) is a number's, shown as it is there (26:30); a cell of type d, in
// which Strict Open XML has dates and elapsed times, is the number that it is in
// other workbooks, shown by its format; a number that its format shows nothing of, or as a
// fraction, is shown as in General, with its sign; a text's own format section
// ("Ref "@) is not applied.
package sheet
