package sheet

import (
	"bytes"
	"cmp"
	"io"
	"slices"
)

// area is a merged cell: it shows the value of its first cell, and covers the
// others. Rows from 1, columns from 0.
type area struct{ top, left, bottom, right int }

// survey unpacks a sheet to its end, which proves it whole, and gives its
// merged cells by first row. They stand after the rows, so they must be known
// before a pass begins; only a sheet that has any is scanned for them.
func survey(a *archive, name string) ([]area, error) {
	found, err := contains(a, name, "mergeCell")
	if err != nil || !found {
		return nil, err
	}
	var areas []area
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
	slices.SortFunc(areas, func(a, b area) int { return cmp.Compare(a.top, b.top) })
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
func (s *scanner) area() (area, error) {
	for {
		name, value, ok := s.attribute()
		if !ok {
			return area{}, s.damaged("a merged cell has no place")
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
			return area{}, s.damaged("a merged cell has no place")
		}
		return area{top, left, bottom, right}, nil
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
	ahead []area // begin below the row, by first row
	here  []area // may reach the row, by first column and first row
	reach []int  // for each of here, the last column that it and those before it cover
	until int    // no area of here ends above this row
	work  int
}

// move goes down to a row; ok is false when that takes more work than a sheet
// can ask for.
func (c *cover) move(row int) (ok bool) {
	ended := len(c.here) > 0 && c.until < row
	begins := len(c.ahead) > 0 && c.ahead[0].top <= row
	if !ended && !begins {
		return true
	}
	c.here = slices.DeleteFunc(c.here, func(a area) bool { return a.bottom < row })
	for len(c.ahead) > 0 && c.ahead[0].top <= row {
		if c.ahead[0].bottom >= row {
			c.here = append(c.here, c.ahead[0])
		}
		c.ahead = c.ahead[1:]
	}
	if c.work += len(c.here); c.work > maxCoverWork {
		return false
	}
	slices.SortFunc(c.here, func(a, b area) int { return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.top, b.top)) })
	c.reach, c.until = c.reach[:0], maxRows
	reach := -1
	for _, a := range c.here {
		reach = max(reach, a.right)
		c.reach = append(c.reach, reach)
		c.until = min(c.until, a.bottom)
	}
	return true
}

// covers tells whether a cell lies under the first cell of an area.
func (c *cover) covers(row, column int) bool {
	after, _ := slices.BinarySearchFunc(c.here, column+1, func(a area, column int) int { return cmp.Compare(a.left, column) })
	if after == 0 || c.reach[after-1] < column {
		return false
	}
	last := c.here[after-1] // of those that begin in the column, the lowest
	return last.left != column || last.top != row
}
