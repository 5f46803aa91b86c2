package xlsx

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/cell"
)

// hiddenColumns returns the hidden columns of a sheet, 0 = A, in the file's order.
// They are listed before the rows. An unreadable entry hides nothing, so that no
// cell is lost.
func hiddenColumns(a *archive, part string) ([]int, error) {
	p, err := a.open(part, maxSheetBytes)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := newScanner(p)
	var hidden []int
	for {
		found, err := s.element()
		if err != nil || !found || string(s.name) == "sheetData" {
			return hidden, err
		}
		if s.depth() != 3 || string(s.name) != "col" {
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
		for column := max(first, 1); column <= min(last, cell.MaxColumns) && len(hidden) < cell.MaxColumns; column++ {
			hidden = append(hidden, column-1)
		}
	}
}

// Merged returns the merged cells below the header that cover another cell of its
// columns, from the top.
func (s *Sheet) Merged() []cell.Area {
	last := len(s.Header) - 1
	return slices.DeleteFunc(slices.Clone(s.merges), func(a cell.Area) bool {
		covers := a.Bottom > a.Top && a.Left <= last || min(a.Right, last) > a.Left
		return a.Top <= s.headerRow || !covers
	})
}

// mergedCells unpacks a sheet to its end, which proves that it is complete, and
// returns its merged cells by first row. The file lists them after the rows, but a
// pass needs them before; only a sheet that has any is scanned for them.
func mergedCells(a *archive, name string) ([]cell.Area, error) {
	found, err := contains(a, name, "mergeCell")
	if err != nil || !found {
		return nil, err
	}
	var areas []cell.Area
	p, err := a.open(name, maxSheetBytes)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := newScanner(p)
	for {
		found, err := s.element()
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		if s.depth() != 3 || string(s.name) != "mergeCell" {
			continue
		}
		attrs, err := s.attributes()
		if err != nil {
			return nil, err
		}
		first, last, isPair := strings.Cut(attrs["ref"], ":")
		if !isPair {
			last = first
		}
		left, top, ok := reference([]byte(first))
		right, bottom, ok2 := reference([]byte(last))
		if !ok || !ok2 || right < left || bottom < top {
			return nil, s.damaged("a merged cell has no place")
		}
		areas = append(areas, cell.Area{Top: top, Left: left, Bottom: bottom, Right: right})
		if len(areas) > maxMerges {
			return nil, tooLarge("its sheet has more than a million merged cells")
		}
	}
	slices.SortFunc(areas, func(a, b cell.Area) int { return cmp.Or(cmp.Compare(a.Top, b.Top), cmp.Compare(a.Left, b.Left)) })
	return areas, nil
}

// contains unpacks a part to its end and reports whether it contains the word.
func contains(a *archive, name, word string) (bool, error) {
	p, err := a.open(name, maxSheetBytes)
	if err != nil {
		return false, err
	}
	defer p.Close()
	buf := make([]byte, min(scanBuffer, p.size+64))
	kept, found := 0, false
	for {
		n, err := p.Read(buf[kept:])
		window := buf[:kept+n]
		found = found || bytes.Contains(window, []byte(word))
		if err == io.EOF {
			return found, nil
		} else if err != nil {
			return false, err
		}
		kept = copy(buf, window[max(0, len(window)-len(word)):]) // the word may span two reads
	}
}

// Limits against merged cells made to waste time: real sheets have a few, or the
// same ones in every row.
const (
	maxMerges    = 1 << 20
	maxCoverWork = 1 << 24 // merged cells looked at, over all rows in which one begins or ends
)

// cover knows the merged cells at the row that a pass has reached.
type cover struct {
	ahead []cell.Area // begin below the row, by first row
	here  []cell.Area // may reach the row, by first column and first row
	reach []int       // for each of here, the last column that it and those before it cover
	until int         // no area of here ends above this row
	work  int
}

// move goes down to a row; ok is false when that takes more work than any real
// sheet needs.
func (c *cover) move(row int) (ok bool) {
	ended := len(c.here) > 0 && c.until < row
	begins := len(c.ahead) > 0 && c.ahead[0].Top <= row
	if !ended && !begins {
		return true
	}
	c.here = slices.DeleteFunc(c.here, func(a cell.Area) bool { return a.Bottom < row })
	for len(c.ahead) > 0 && c.ahead[0].Top <= row {
		if c.ahead[0].Bottom >= row {
			c.here = append(c.here, c.ahead[0])
		}
		c.ahead = c.ahead[1:]
	}
	if c.work += len(c.here); c.work > maxCoverWork {
		return false
	}
	slices.SortFunc(c.here, func(a, b cell.Area) int { return cmp.Or(cmp.Compare(a.Left, b.Left), cmp.Compare(a.Top, b.Top)) })
	c.reach, c.until = c.reach[:0], cell.MaxRows
	reach := -1
	for _, a := range c.here {
		reach = max(reach, a.Right)
		c.reach = append(c.reach, reach)
		c.until = min(c.until, a.Bottom)
	}
	return true
}

// covers reports whether an area covers a cell that is not the area's first.
func (c *cover) covers(row, column int) bool {
	after, _ := slices.BinarySearchFunc(c.here, column+1, func(a cell.Area, column int) int { return cmp.Compare(a.Left, column) })
	if after == 0 || c.reach[after-1] < column {
		return false
	}
	last := c.here[after-1] // of those that begin in the column, the lowest
	return last.Left != column || last.Top != row
}
