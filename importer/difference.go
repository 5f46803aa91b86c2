package importer

import (
	"slices"

	"claimsheet/mapping"
)

// difference is what a done step's data differ in from what is asked now, told
// apart by what made it so: a cell that was written anew, or the mapping.
type difference struct {
	cells   []cellChange
	mapping bool // the mapping asks for something else than it did
	status  bool // the activity is wanted in another status
	byCell  bool // and it is a cell that wants it so
}

type cellChange struct {
	name   string
	source mapping.Source
}

// inSheet tells whether the sheet that something came from has a column.
type inSheet func(column string, source mapping.Source) bool

// differs compares what was asked then with what is asked now. What only one of
// the two asks for was changed by the mapping. What only another mapping asks
// for, or takes from elsewhere, is no difference: a client belongs to all of
// them.
func (now asked) differs(then asked, has inSheet) difference {
	var d difference
	own := now.Mapping == then.Mapping
	if now.Status != then.Status {
		d.status, d.byCell = true, now.movedByCell(then, has)
		d.mapping = !d.byCell
		return d // an Open activity has no attributes: they do not differ, they are absent
	}
	d.mapping = own && now.Template != then.Template
	old := map[string]askedValue{}
	for _, v := range then.Values {
		old[v.Name] = v
	}
	for i, v := range now.Values {
		was, known := old[v.Name]
		delete(old, v.Name)
		switch {
		case known && v.same(was):
		case known && v.edited(was.askedCells, now.sources[i], has):
			d.cells = append(d.cells, cellChange{v.Name, now.sources[i]})
		default:
			d.mapping = d.mapping || own
		}
	}
	d.mapping = d.mapping || own && len(old) > 0
	return d
}

// movedByCell tells that an activity has another status because of the cell that
// says where the client resumes, which makes activities Open and no more.
func (now asked) movedByCell(then asked, has inSheet) bool {
	open := string(mapping.Open)
	switch {
	case !now.Resumes || !then.Resumes || now.Status != open && then.Status != open:
		return false
	case len(then.Resume.Cells) == 0: // an older record
		return true
	}
	return now.Resume.edited(then.Resume, now.resume, has)
}

// edited tells that a cell was written anew. Where the mapping has come to read
// another column, it is the mapping's doing, unless the column that it read
// then is gone: the mapping follows one that was renamed.
func (now askedCells) edited(then askedCells, source mapping.Source, has inSheet) bool {
	switch {
	case len(now.Cells) == 0 || len(then.Cells) == 0: // a constant, now or then
		return false
	case len(then.Columns) == 0:
		return !slices.Equal(now.Cells, then.Cells)
	}
	was := make(map[string]string, len(then.Columns))
	for i, column := range then.Columns {
		was[column] = then.Cells[i]
	}
	var others []string // what stands in columns that were not read then
	for i, column := range now.Columns {
		text, both := was[column]
		switch {
		case !both:
			others = append(others, now.Cells[i])
		case text != now.Cells[i]:
			return true
		}
	}
	for column, text := range was {
		if !slices.Contains(now.Columns, column) && !slices.Contains(others, text) && !has(column, source) {
			return true
		}
	}
	return false
}
