package reports_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// A workbook of ours is known by its properties, and by the hidden sheet that repeats them
// where a program has saved it without them.
func TestIsOurs(t *testing.T) {
	t.Parallel()
	path, f := written(t, loans())
	dir := t.TempDir()
	saved := func(name string) string {
		t.Helper()
		noError(t, f.SaveAs(filepath.Join(dir, name)))
		return filepath.Join(dir, name)
	}
	want := map[string]string{reports.KindProperty: "results", reports.StepsProperty: "4", "claimsheet.ledger": "L1", "claimsheet.environment": "https://uat.example.test"}
	noError(t, f.SetCellValue("Results", "A2", "edited"))
	edited := saved("edited.xlsx")
	f.Pkg.Store("docProps/custom.xml", []byte(`<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"/>`))
	dropped := maps.Clone(want)
	dropped[reports.DroppedProperty] = "yes"
	text, empty := filepath.Join(dir, "text.xlsx"), filepath.Join(dir, "empty.xlsx")
	noError(t, errors.Join(os.WriteFile(text, []byte("a,b\n1,2\n"), 0o600), os.WriteFile(empty, nil, 0o600)))
	for path, want := range map[string]map[string]string{path: want, edited: want, saved("dropped.xlsx"): dropped, foreign(t): nil, text: nil, empty: nil} {
		got, ours, err := reports.IsOurs(path)
		if err != nil || ours != (want != nil) {
			t.Fatalf("%s: %v, %v", path, ours, err)
		}
		if ours {
			same(t, path, want, got)
		}
	}
	if _, _, err := reports.IsOurs(filepath.Join(dir, "missing.xlsx")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// foreign is a workbook that Claimsheet did not write.
func foreign(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreign.xlsx")
	f := excelize.NewFile()
	defer f.Close()
	noError(t, f.SetCustomProps(excelize.CustomProperty{Name: "Department", Value: "Claims"}))
	noError(t, f.SaveAs(path))
	return path
}

var moment = time.Date(2026, 11, 20, 23, 5, 9, 0, time.UTC)

func TestTarget(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	results, _ := written(t, loans())
	dry, _ := written(t, plan())
	link := filepath.Join(folder, "link.xlsx")
	if err := os.Symlink(results, link); err != nil {
		t.Skip(err)
	}
	known := must(writeWorkbook(results, loans()))(t).Digest
	aside := filepath.Join(filepath.Dir(results), "leads.results-20261120T230509.xlsx")
	again, _ := written(t, loans())
	taken := filepath.Join(filepath.Dir(again), "leads.results-20261120T230509")
	noError(t, os.WriteFile(taken+".xlsx", nil, 0o600))
	free := filepath.Join(folder, "free.xlsx")

	cases := map[string]struct {
		path   string
		dryRun bool
		digest string
		want   reports.Placement
		code   string
	}{
		"free":                          {path: free, want: reports.Placement{Path: free}},
		"free, dry run":                 {path: free, dryRun: true, want: reports.Placement{Path: free}},
		"results as we left them":       {path: results, digest: known, want: reports.Placement{Path: results}},
		"results edited since":          {path: results, digest: "another", want: reports.Placement{Path: results, Aside: aside}},
		"results edited twice":          {path: again, want: reports.Placement{Path: again, Aside: taken + ".2.xlsx"}},
		"results nobody remembers":      {path: results, want: reports.Placement{Path: results, Aside: aside}},
		"a plan over results":           {path: results, dryRun: true, digest: known, code: "output-is-results"},
		"a plan over a plan":            {path: dry, dryRun: true, want: reports.Placement{Path: dry}},
		"results over a plan":           {path: dry, want: reports.Placement{Path: dry}},
		"somebody else's":               {path: foreign(t), code: "output-exists"},
		"a folder":                      {path: folder, code: "output-not-a-file"},
		"a link":                        {path: link, code: "output-not-a-file"},
		"in a folder that is not there": {path: filepath.Join(folder, "no", "a.xlsx"), code: "output-no-folder"},
		"in a file":                     {path: filepath.Join(results, "a.xlsx"), dryRun: true, code: "output-no-folder"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := reports.Target(c.path, c.dryRun, c.digest, moment)
			var p problem.Problem
			if errors.As(err, &p); p.Code != c.code || (err != nil) != (c.code != "") {
				t.Fatalf("got error %v, want code %q", err, c.code)
			}
			same(t, "placement", c.want, got)
		})
	}
}

// An edited workbook is at its place until the new one is, whatever happens meanwhile.
func TestEditedWorkbookStaysInItsPlace(t *testing.T) {
	t.Parallel()
	path, _ := written(t, loans())
	before := must(os.ReadFile(path))(t)
	b, looks := noted(loans()), 0
	records := b.Records
	b.Records = func(yield func(cell.Record, error) bool) {
		for record, err := range records {
			looks++
			if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
				t.Errorf("while the new workbook is written, the edited one is not in its place (%v)", err)
			}
			if !yield(record, err) {
				return
			}
		}
	}
	must(reports.Placement{Path: path, Aside: path + ".aside"}.Write(b))(t)
	if looks == 0 {
		t.Error("no record was read")
	}
}
