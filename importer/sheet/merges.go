package sheet

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"slices"
	"strconv"

	"claimsheet/mapping"
)

// Area is a merged cell: it shows the value of its first cell, and covers the
// others. Rows from 1, columns from 0.
type Area struct{ Top, Left, Bottom, Right int }

// First is the cell that the value belongs to, such as B2.
func (a Area) First() string { return mapping.ColumnName(a.Left) + strconv.Itoa(a.Top) }

// String is the area's reference, such as B2:B3.
func (a Area) String() string {
	return a.First() + ":" + mapping.ColumnName(a.Right) + strconv.Itoa(a.Bottom)
}

// Merged are the merged cells below the header that cover another cell of its
// columns, from the top.
func (r *Reader) Merged() iter.Seq[Area] {
	last := len(r.sheet.Header) - 1
	return func(yield func(Area) bool) {
		for _, a := range r.merges {
			covers := a.Bottom > a.Top && a.Left <= last || min(a.Right, last) > a.Left
			if a.Top > r.sheet.HeaderRow && covers && !yield(a) {
				return
			}
		}
	}
}

// survey unpacks a sheet to its end, which proves it whole, and gives its
// merged cells by first row. They stand after the rows, so they must be known
// before a pass begins; only a sheet that has any is scanned for them.
func survey(a *archive, name string) ([]Area, error) {
	found, err := contains(a, name, "mergeCell")
	if err != nil || !found {
		return nil, err
	}
	var areas []Area
	p, err := a.open(name, maxSheetBytes)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := newScanner(p)
	for {
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		if t == endOfPart {
			break
		}
		if t != startTag || s.depth() != 3 || string(s.name) != "mergeCell" {
			continue
		}
		m, err := s.area()
		if err != nil {
			return nil, err
		}
		if areas = append(areas, m); len(areas) > maxMerges {
			return nil, tooLarge("its sheet has more than a million merged cells")
		}
	}
	slices.SortFunc(areas, func(a, b Area) int { return cmp.Or(cmp.Compare(a.Top, b.Top), cmp.Compare(a.Left, b.Left)) })
	return areas, nil
}

// contains unpacks a part to its end and tells whether the word stands in it.
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
		kept = copy(buf, window[max(0, len(window)-len(word)):]) // a word may lie across two reads
	}
}

// area reads the ref attribute of a mergeCell, such as B2:C3.
func (s *scanner) area() (Area, error) {
	for {
		name, value, ok := s.attribute()
		if !ok {
			return Area{}, s.damaged("a merged cell has no place")
		}
		if string(name) != "ref" {
			continue
		}
		from, to, _ := bytes.Cut(value, []byte(":"))
		if len(to) == 0 {
			to = from
		}
		left, top, ok1 := reference(from)
		right, bottom, ok2 := reference(to)
		if !ok1 || !ok2 || right < left || bottom < top {
			return Area{}, s.damaged("a merged cell has no place")
		}
		return Area{top, left, bottom, right}, nil
	}
}

// maxColumns is the number of columns of a sheet, A to XFD.
const maxColumns = 16_384

// Limits against merged cells made to waste time: sheets have a few, or the
// same ones in every row.
const (
	maxMerges    = 1 << 20
	maxCoverWork = 1 << 24 // merged cells looked at, over all rows in which any begins or ends
)

// cover follows a pass down the rows.
type cover struct {
	ahead []Area // begin below the row, by first row
	here  []Area // may reach the row, by first column and first row
	reach []int  // for each of here, the last column that it and those before it cover
	until int    // no area of here ends above this row
	work  int
}

// move goes down to a row; ok is false when that takes more work than a sheet
// can ask for.
func (c *cover) move(row int) (ok bool) {
	ended := len(c.here) > 0 && c.until < row
	begins := len(c.ahead) > 0 && c.ahead[0].Top <= row
	if !ended && !begins {
		return true
	}
	c.here = slices.DeleteFunc(c.here, func(a Area) bool { return a.Bottom < row })
	for len(c.ahead) > 0 && c.ahead[0].Top <= row {
		if c.ahead[0].Bottom >= row {
			c.here = append(c.here, c.ahead[0])
		}
		c.ahead = c.ahead[1:]
	}
	if c.work += len(c.here); c.work > maxCoverWork {
		return false
	}
	slices.SortFunc(c.here, func(a, b Area) int { return cmp.Or(cmp.Compare(a.Left, b.Left), cmp.Compare(a.Top, b.Top)) })
	c.reach, c.until = c.reach[:0], maxRows
	reach := -1
	for _, a := range c.here {
		reach = max(reach, a.Right)
		c.reach = append(c.reach, reach)
		c.until = min(c.until, a.Bottom)
	}
	return true
}

// covers tells whether a cell lies under the first cell of an area.
func (c *cover) covers(row, column int) bool {
	after, _ := slices.BinarySearchFunc(c.here, column+1, func(a Area, column int) int { return cmp.Compare(a.Left, column) })
	if after == 0 || c.reach[after-1] < column {
		return false
	}
	last := c.here[after-1] // of those that begin in the column, the lowest
	return last.Left != column || last.Top != row
}
