// Package problem has the one type in which Claimsheet reports that something is wrong: where, what, and how to fix it.
//
// It is a leaf: every package may import it and it imports nothing of ours.
// Problems are values. They are collected, sorted and shown together, because a
// user who fixes one thing wants to see the others too.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Where is the place a problem is about: a position in a file, or a cell of a
// sheet, or neither when the problem is about the command itself.
type Where struct {
	File   string // as the user named it; for a cell only when a run has several workbooks
	Line   int    // 1-based; 0 when only the file is known
	Column int    // 1-based, in characters
	Sheet  string // the sheet's name, for cells and rows
	Cell   string // an A1 reference such as C7; empty when the row or sheet is meant
	Row    int    // 1-based row as a spreadsheet program shows it; for sorting, and shown when Cell is empty
	Table  int    // which of a run's sheets it is, 0 = the first; for sorting
	Copy   Copy   // the same cell or row in the results workbook, when the user corrects that one
}

// Copy is the place of a sheet's cell or row in the results workbook that a run
// makes of the sheet. The zero Copy means no copy.
type Copy struct {
	File  string // the workbook, shown where Where.File is
	Sheet string // the sheet's name
	Place string // an A1 reference such as N5, or a row's number
	Row   int    // the row's number in the sheet that was first imported
}

// String is file:line:col for files and Sheet!C7, or [file]Sheet!C7, for cells,
// so that editors and spreadsheet programs can jump to it. It is empty for the
// zero Where. With a Copy it names the place in the results workbook and the row
// of the source.
func (w Where) String() string {
	switch {
	case w.Copy.Sheet != "":
		tab := quoteSheet(w.Copy.Sheet)
		if w.File != "" {
			tab = "[" + w.Copy.File + "]" + tab
		}
		return fmt.Sprintf("%s!%s (source row %d)", tab, w.Copy.Place, w.Copy.Row)
	case w.Sheet != "" && w.Cell != "":
		return w.tab() + "!" + w.Cell
	case w.Sheet != "" && w.Row > 0:
		return fmt.Sprintf("%s!%d", w.tab(), w.Row)
	case w.Sheet != "":
		return w.tab()
	case w.File != "" && w.Line > 0:
		return fmt.Sprintf("%s:%d:%d", w.File, w.Line, w.Column)
	}
	return w.File
}

// tab is the sheet as a spreadsheet program writes it in a reference.
func (w Where) tab() string {
	if w.File != "" {
		return "[" + w.File + "]" + quoteSheet(w.Sheet)
	}
	return quoteSheet(w.Sheet)
}

// quoteSheet writes a sheet name as spreadsheet programs do in a reference:
// in single quotes, doubled inside, when it is more than a plain word.
func quoteSheet(name string) string {
	for _, r := range name {
		plain := r == '_' || r == '.' || r > 127 ||
			'0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !plain {
			return "'" + strings.ReplaceAll(name, "'", "''") + "'"
		}
	}
	return name
}

// Class is what a problem makes of the command that it ends. The exit code follows from it.
type Class int

const (
	Input   Class = iota // usage, mapping, configuration or unreadable input
	Stopped              // what was asked for correctly could not be done
	Locked               // another run holds the ledger
	Bug                  // a defect of Claimsheet
)

// Problem is one thing that is wrong. It is an error, so that a function that
// can fail in only one way may return it as such; a function that finds several
// returns List.Err.
type Problem struct {
	Where   Where
	Code    string // a stable short word for filters and documentation, e.g. unknown-key
	Message string // what is wrong and what was expected, one line, no final stop
	Hint    string // how to fix it; may be empty
	// Seen is the cell's value as a person reads it. It is personal data: the
	// workbook shows it, logs and terminals never do.
	Seen string
	// Part is set for a further place of a mistake that another problem reports: the
	// place is marked, and lists leave it out.
	Part  bool
	Class Class
	Err   error `json:"-"` // what has caused it, for errors.Is and errors.As; not shown; nil for none
}

// Error is the problem on one line, without its hint and without Seen.
func (p Problem) Error() string {
	s := p.Message
	if at := p.Where.String(); at != "" {
		s = at + ": " + s
	}
	if p.Code != "" {
		s += " [" + p.Code + "]"
	}
	return s
}

// Unwrap returns what has caused the problem, nil for none.
func (p Problem) Unwrap() error { return p.Err }

// Hinted returns p with the hint set.
func (p Problem) Hinted(format string, args ...any) Problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// Of returns p with its class.
func (p Problem) Of(class Class) Problem {
	p.Class = class
	return p
}

// By returns p with what has caused it.
func (p Problem) By(err error) Problem {
	p.Err = err
	return p
}

// New makes a problem that has no place.
func New(code, format string, args ...any) Problem {
	return Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

// At makes a problem with a place.
func At(where Where, code, format string, args ...any) Problem {
	return Problem{Where: where, Code: code, Message: fmt.Sprintf(format, args...)}
}

// List is every problem of one step of the work. A nil List means none.
type List []Problem

// Listed returns the list without the problems that are Part of another one. It does not change l.
func (l List) Listed() List {
	return slices.DeleteFunc(slices.Clone(l), func(p Problem) bool { return p.Part })
}

// Err returns the problems as one error, with a line for each; nil when l is empty.
func (l List) Err() error {
	var all []error
	for _, p := range l {
		all = append(all, p)
	}
	return errors.Join(all...)
}

// Collect appends the problems that err is, wraps or joins, and returns nil; an
// error without a problem is returned unchanged.
func (l *List) Collect(err error) error {
	before := len(*l)
	l.add(err)
	if len(*l) == before {
		return err
	}
	return nil
}

func (l *List) add(err error) {
	switch e := err.(type) {
	case Problem:
		*l = append(*l, e)
	case interface{ Unwrap() error }:
		l.add(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			l.add(one)
		}
	}
}

// ClassOf returns the highest class of the problems that err is, wraps or joins.
func ClassOf(err error) (class Class) {
	var all List
	all.add(err)
	for _, p := range all {
		class = max(class, p.Class)
	}
	return class
}

// Cause returns the innermost error that err wraps, of several that are joined the
// first: the reason without the paths that the wrappers repeat.
func Cause(err error) error {
	for {
		var inner error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			inner = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				inner = all[0]
			}
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Unique sorts the list and returns it without repeated problems.
func (l List) Unique() List {
	l.Sort()
	return slices.CompactFunc(l, func(a, b Problem) bool {
		a.Err, b.Err = nil, nil // some errors cannot be compared
		return a == b
	})
}

// Sort orders by table, file, line, column, sheet, row, cell and message, so that the
// same input always gives the same report.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Where.Table, b.Where.Table),
			cmp.Compare(a.Where.File, b.Where.File),
			cmp.Compare(a.Where.Line, b.Where.Line),
			cmp.Compare(a.Where.Column, b.Where.Column),
			cmp.Compare(a.Where.Sheet, b.Where.Sheet),
			cmp.Compare(a.Where.Row, b.Where.Row),
			cmp.Compare(len(a.Where.Cell), len(b.Where.Cell)),
			cmp.Compare(a.Where.Cell, b.Where.Cell),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Grouped returns the list with one problem for all cells of a column, and one for all
// places of a file, that have the same one. It has the first place, and its message
// names the others, five of them at most. Other problems stay as they are, and the
// order is that of the first places.
func (l List) Grouped() List {
	type group struct {
		Problem
		column string
	}
	var list List
	index, more := map[group]int{}, map[int][]string{}
	for _, p := range l {
		at := p.Where
		key, place := group{Problem: p}, at.Cell
		key.Seen = ""
		key.Where = Where{Table: at.Table, File: at.File, Sheet: at.Sheet}
		switch {
		case at.Cell != "":
			key.column = strings.TrimRight(at.Cell, "0123456789")
			if at.Copy.Sheet != "" {
				place = at.Copy.Place
			}
		case at.Line > 0:
			place = fmt.Sprintf("line %d", at.Line)
		default:
			list = append(list, p)
			continue
		}
		first, known := index[key]
		if !known {
			index[key] = len(list)
			list = append(list, p)
			continue
		}
		if at.Line == 0 || !slices.Contains(more[first], place) && at.Line != list[first].Where.Line {
			more[first] = append(more[first], place)
		}
	}
	for i, places := range more {
		list[i].Message += also(places)
	}
	return list
}

// also names the further places that have a problem.
func also(places []string) string {
	const most = 5
	if len(places) > most {
		return fmt.Sprintf("; the same in %d more places: %s", len(places), Some(places, most))
	}
	return "; the same in " + Some(places, most)
}
