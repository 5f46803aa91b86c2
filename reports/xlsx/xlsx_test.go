package xlsx

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// made makes a workbook and opens it.
func made(t *testing.T, make func(*Writer) error) *excelize.File {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, false)
	if err := errors.Join(make(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A full table continues in the next sheet, with its header. The limit is lowered
// here, because a million rows take too long.
func TestFullSheetContinuesInTheNext(t *testing.T) {
	f := made(t, func(w *Writer) error {
		w.maxRows = 3
		table := w.NewSheet(Layout{Name: "Steps", Headers: []string{"Number"}, Widths: []float64{10}})
		for n := range 5 {
			table.Row(Style{}, n+1)
		}
		return table.Close()
	})
	got := map[string][][]string{}
	for _, sheet := range f.GetSheetList() {
		got[sheet], _ = f.GetRows(sheet)
	}
	want := map[string][][]string{
		"Steps":   {{"Number"}, {"1"}, {"2"}},
		"Steps 2": {{"Number"}, {"3"}, {"4"}},
		"Steps 3": {{"Number"}, {"5"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, ref := range []string{"$A$1:$A$3", "$A$1:$A$3", "$A$1:$A$2"} {
		if got, want := f.GetDefinedName()[i].RefersTo, fmt.Sprintf("'%s'!%s", f.GetSheetList()[i], ref); got != want {
			t.Errorf("the filter is on %s, want %s", got, want)
		}
	}
}

// A sheet with comments names their drawing as the workbook's relationships do.
func TestCommentsHaveADrawing(t *testing.T) {
	f := made(t, func(w *Writer) error {
		s := w.NewSheet(Layout{Name: "Comments", Widths: []float64{10}})
		s.Next(1, false)
		s.Comment("text")
		s.Text(Style{}, "text")
		s.End()
		return s.Close()
	})
	for name, want := range map[string]string{"xl/worksheets/sheet1.xml": `<legacyDrawing r:id="rId1"/>`,
		"xl/worksheets/_rels/sheet1.xml.rels": `Id="rId1" Target="../drawings/vmlDrawing1.vml"`} {
		if part, _ := f.Pkg.Load(name); !strings.Contains(fmt.Sprintf("%s", part), want) {
			t.Errorf("%s has no %s: %s", name, want, part)
		}
	}
}
