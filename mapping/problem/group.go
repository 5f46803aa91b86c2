package problem

import (
	"fmt"
	"slices"
	"strings"
)

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
	named := places[:min(len(places), most)]
	if rest := len(places) - len(named); rest > 0 {
		return fmt.Sprintf("; the same in %d more places: %s and %d more", len(places), strings.Join(named, ", "), rest)
	}
	return "; the same in " + strings.Join(named, ", ")
}
