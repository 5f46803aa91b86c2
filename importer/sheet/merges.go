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
		areas = append(areas, m)
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

// cover follows a pass down the rows.
type cover struct {
	ahead []area // begin below the row, by first row
	here  []area // may reach the row
}

// move goes down to a row. More areas side by side than there are columns
// must overlap, which no spreadsheet program writes.
func (c *cover) move(row int) (ok bool) {
	c.here = slices.DeleteFunc(c.here, func(a area) bool { return a.bottom < row })
	for len(c.ahead) > 0 && c.ahead[0].top <= row {
		if c.ahead[0].bottom >= row {
			c.here = append(c.here, c.ahead[0])
		}
		c.ahead = c.ahead[1:]
	}
	return len(c.here) <= maxColumns
}

// covers tells whether a cell lies under the first cell of an area.
func (c *cover) covers(row, column int) bool {
	for _, a := range c.here {
		if a.left <= column && column <= a.right && (row != a.top || column != a.left) {
			return true
		}
	}
	return false
}
