package sheet

import (
	"strconv"
)

// hiddenColumns are the columns of a sheet that nobody sees, 0 = A, in the file's
// order. They are named before the rows. What cannot be read of them hides
// nothing: no cell is lost by it.
func hiddenColumns(a *archive, part string) ([]int, error) {
	p, err := a.open(part, maxSheetBytes)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := newScanner(p)
	var hidden []int
	for {
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		switch {
		case t == endOfPart, t == startTag && string(s.name) == "sheetData":
			return hidden, nil
		case t != startTag || s.depth() != 3 || string(s.name) != "col":
			continue
		}
		attrs, err := s.attributes()
		if err != nil {
			return nil, err
		}
		if hides, _ := boolean(attrs["hidden"]); !hides {
			continue
		}
		first, _ := strconv.Atoi(attrs["min"])
		last, _ := strconv.Atoi(attrs["max"])
		for column := max(first, 1); column <= min(last, maxColumns) && len(hidden) < maxColumns; column++ {
			hidden = append(hidden, column-1)
		}
	}
}
