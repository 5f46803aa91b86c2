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

// Limits against merged cells made to waste time: real sheets have a few, or the same
// ones in every row.
const (
	maxMerges      = 1 << 20
	maxMergesInRow = 1000 // that reach one row
)

// readLayout unpacks the sheet to its end, which proves that it is complete, and reads its
// hidden columns and merged cells. The file lists the merged cells after the rows, but a
// pass needs them before; only a sheet that has any is scanned for them.
func (s *Sheet) readLayout() error {
	isMerged, err := contains(s.archive, s.part, "mergeCell")
	if err != nil {
		return err
	}
	p, err := s.archive.open(s.part, maxSheetBytes)
	if err != nil {
		return err
	}
	defer p.Close()
	inRows := false
	for x := newScanner(p); ; {
		found, err := x.element()
		name := string(x.name)
		inRows = inRows || name == "sheetData"
		if err != nil || !found || inRows && !isMerged {
			slices.SortFunc(s.merges, func(a, b cell.Area) int { return cmp.Or(cmp.Compare(a.Top, b.Top), cmp.Compare(a.Left, b.Left)) })
			return err
		}
		if x.depth() != 3 || name != "col" && name != "mergeCell" {
			continue
		}
		attrs, err := x.attributes()
		switch {
		case err != nil:
			return err
		case name == "col":
			s.addHidden(attrs)
			continue
		case len(s.merges) == maxMerges:
			return tooLarge("its sheet has more than a million merged cells")
		}
		area, ok := areaOf(attrs["ref"])
		if !ok {
			return x.damaged("a merged cell has no place")
		}
		s.merges = append(s.merges, area)
	}
}

// addHidden adds the columns of an entry that hides them. An unreadable one hides nothing,
// so that no cell is lost.
func (s *Sheet) addHidden(attrs map[string]string) {
	if hides, _ := boolean(attrs["hidden"]); !hides {
		return
	}
	first, _ := strconv.Atoi(attrs["min"])
	last, _ := strconv.Atoi(attrs["max"])
	for column := max(first, 1); column <= min(last, cell.MaxColumns) && len(s.HiddenColumns) < cell.MaxColumns; column++ {
		s.HiddenColumns = append(s.HiddenColumns, column-1)
	}
}

// areaOf reads an area such as B2:C3, or B2 alone.
func areaOf(ref string) (area cell.Area, ok bool) {
	first, last, isPair := strings.Cut(ref, ":")
	if !isPair {
		last = first
	}
	left, top, ok := reference([]byte(first))
	right, bottom, ok2 := reference([]byte(last))
	return cell.Area{Top: top, Left: left, Bottom: bottom, Right: right}, ok && ok2 && left <= right && top <= bottom
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

// Merged returns the merged cells below the header that cover another cell of its
// columns, from the top.
func (s *Sheet) Merged() []cell.Area {
	last := len(s.Header) - 1
	return slices.DeleteFunc(slices.Clone(s.merges), func(a cell.Area) bool {
		covers := a.Bottom > a.Top && a.Left <= last || min(a.Right, last) > a.Left
		return a.Top <= s.headerRow || !covers
	})
}

// mergedInRow finds the merged cells that reach the row.
func (p *pass) mergedInRow() error {
	p.merged = slices.DeleteFunc(p.merged, func(a cell.Area) bool { return a.Bottom < p.row })
	for len(p.below) > 0 && p.below[0].Top <= p.row {
		if p.below[0].Bottom >= p.row {
			p.merged = append(p.merged, p.below[0])
		}
		p.below = p.below[1:]
	}
	if len(p.merged) > maxMergesInRow {
		return p.damaged("more than a thousand merged cells reach row %d", p.row)
	}
	return nil
}

// isCovered reports whether a cell of the row lies in a merged one and is the first of
// none.
func (p *pass) isCovered(column int) (isCovered bool) {
	for _, a := range p.merged {
		if a.Left == column && a.Top == p.row {
			return false
		}
		isCovered = isCovered || a.Left <= column && column <= a.Right
	}
	return isCovered
}
