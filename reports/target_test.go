package reports_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

func TestIsOurs(t *testing.T) {
	t.Parallel()
	path, f := written(t, loans())
	want := map[string]string{
		reports.KindProperty: "results", "claimsheet.ledger": "L1", "claimsheet.environment": "https://uat.example.test",
		reports.StepsProperty: "4",
	}
	check := func(name, path string, want map[string]string) {
		t.Helper()
		got, ok, err := reports.IsOurs(path)
		if err != nil || ok != (want != nil) {
			t.Fatalf("%s: %v, %v", name, ok, err)
		}
		if diff := cmp.Diff(want, got); ok && diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check("as written", path, want)

	noError(t, f.SetCellValue("Results", "A2", "edited"))
	edited := filepath.Join(t.TempDir(), "edited.xlsx")
	noError(t, f.SaveAs(edited))
	check("edited", edited, want)

	check("a workbook of somebody else", foreign(t), nil)
	for name, content := range map[string]string{"empty": "", "text": "a,b\n1,2\n"} {
		path := filepath.Join(t.TempDir(), "a.xlsx")
		noError(t, os.WriteFile(path, []byte(content), 0o600))
		check(name, path, nil)
	}
	if _, _, err := reports.IsOurs(filepath.Join(t.TempDir(), "missing.xlsx")); !errors.Is(err, os.ErrNotExist) {
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

// An edited workbook is at its place until the new one is, whatever happens
// meanwhile, and is kept under another name from then on.
func TestEditedWorkbookIsKept(t *testing.T) {
	t.Parallel()
	path, _ := written(t, loans())
	folder := filepath.Dir(path)
	before, _ := os.ReadFile(path)
	for _, name := range []string{"leads.results-20261120T230509.xlsx", "leads.results-20261120T230509.2.xlsx"} {
		place := must(reports.Target(path, false, "", moment))(t)
		b := loans()
		records, looks := b.Records, 0
		b.Records = func(yield func(cell.Record, error) bool) {
			for record, err := range records {
				looks++
				if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
					t.Fatalf("while the new workbook is written, the edited one is not in its place (%v)", err)
				}
				if !yield(record, err) {
					return
				}
			}
		}
		w, err := place.Write(noted(b))
		if err != nil || looks == 0 || w.Path != path || w.Aside != filepath.Join(folder, name) {
			t.Fatalf("written %+v after %d looks, %v", w, looks, err)
		}
		if kept, err := os.ReadFile(w.Aside); err != nil || string(kept) != string(before) {
			t.Fatalf("%s: %v", name, err)
		}
		if now, err := safefile.Digest(path); err != nil || now != w.Digest {
			t.Errorf("the new workbook's digest is %s, want %s (%v)", now, w.Digest, err)
		}
		noError(t, os.WriteFile(path, before, 0o600))
	}
}

// On a file system without links an edited workbook is renamed. A folder stands for one here: it can have no second name either.
func TestKeptWithoutLinks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	place := reports.Placement{Path: filepath.Join(folder, "a.xlsx"), Aside: filepath.Join(folder, "aside.xlsx")}
	noError(t, os.Mkdir(place.Path, 0o700))
	w := must(place.Write(noted(loans())))(t)
	if kept, err := os.Stat(w.Aside); w.Path != place.Path || err != nil || !kept.IsDir() {
		t.Errorf("written to %+v (error %v)", w, err)
	}
}

// An edited workbook that cannot be kept under another name stays as it is, and
// the results go beside it. Here its new folder is missing.
func TestResultsBesideAHeldWorkbook(t *testing.T) {
	t.Parallel()
	path, _ := written(t, loans())
	before, _ := os.ReadFile(path)
	place := reports.Placement{Path: path, Aside: filepath.Join(filepath.Dir(path), "nowhere", "a.xlsx")}
	w := must(place.Write(noted(loans())))(t)
	if want := filepath.Join(filepath.Dir(path), "leads.results.2.xlsx"); w.Path != want || w.Aside != "" {
		t.Errorf("written to %+v, want %s", w, want)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the workbook was changed (error %v)", err)
	}
}

// A workbook that a program has saved without its document properties is known by the hidden sheet that repeats them.
func TestDroppedProperties(t *testing.T) {
	t.Parallel()
	path, f := written(t, loans())
	f.Pkg.Store("docProps/custom.xml", []byte(`<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"/>`))
	noError(t, f.SaveAs(path))
	binding, ours, err := reports.IsOurs(path)
	if err != nil || !ours || binding[reports.DroppedProperty] == "" || binding["claimsheet.ledger"] != "L1" || binding["claimsheet.environment"] == "" {
		t.Errorf("ours %t, %v (error %v)", ours, binding, err)
	}
}
