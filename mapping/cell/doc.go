// Package cell holds the vocabulary of sheets: cells, records and rows as the
// file has them, and values as they are sent. Reading a sheet, planning, the
// engine and the reports share it; it knows nothing of mappings.
package cell
