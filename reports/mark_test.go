package reports_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/safefile"
	"claimsheet/reports"
)

// archiveOf writes a zip file with the parts, name by name.
func archiveOf(t *testing.T, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		must(io.WriteString(must(z.Create(parts[i]))(t), parts[i+1]))(t)
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	noError(t, errors.Join(z.Close(), os.WriteFile(path, b.Bytes(), 0o640)))
	return path
}

// storedPart is a part of a zip file as it is stored.
func storedPart(t *testing.T, path, name string) string {
	t.Helper()
	z := must(zip.OpenReader(path))(t)
	defer z.Close()
	at := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	return string(must(io.ReadAll(must(z.File[at].OpenRaw())(t)))(t))
}

// A property is set in a workbook whichever program wrote it, and nothing else in it changes.
func TestMark(t *testing.T) {
	t.Parallel()
	path := archiveOf(t, "_rels/.rels", `<Relationships><Relationship Id="r1" Type="http://x/custom-properties" Target="docProps/custom.xml"/></Relationships>`,
		"docProps/custom.xml", `<?xml version="1.0" encoding="UTF-8"?>
<p:Properties xmlns:p="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" xmlns:v="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">
 <p:property pid="7" name="claimsheet.kind" fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}">
  <v:lpwstr>results</v:lpwstr>
 </p:property>
</p:Properties>
`, "xl/sheet.xml", strings.Repeat("cells ", 1000))
	sheet := storedPart(t, path, "xl/sheet.xml")
	refused := errors.New("no")
	if err := reports.Mark(path, map[string]string{"claimsheet.open": "first"}, func(string) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if property, _, _ := reports.IsOurs(path); property["claimsheet.open"] != "" {
		t.Error("it was marked although that was refused")
	}
	for _, value := range []string{"first", "a <second> & last"} {
		var said string
		noError(t, reports.Mark(path, map[string]string{"claimsheet.open": value, "claimsheet.gone": ""}, func(digest string) error { said = digest; return nil }))
		same(t, "digest", must(safefile.Digest(path))(t), said)
		property, _, err := reports.IsOurs(path)
		noError(t, err)
		same(t, "properties", map[string]string{"claimsheet.open": value, "claimsheet.kind": "results"}, property)
	}
	if storedPart(t, path, "xl/sheet.xml") != sheet {
		t.Error("the sheet has changed")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	same(t, "files", 1, len(inFolder(t, filepath.Dir(path))))
	for name, text := range map[string]string{"docProps/custom.xml": "<a>", "xl/sheet.xml": "<a/>"} { // damaged properties; no properties
		if err := reports.Mark(archiveOf(t, name, text), map[string]string{"x": "y"}, func(string) error { return nil }); err == nil {
			t.Errorf("a workbook of %s alone was marked", name)
		}
	}
}
