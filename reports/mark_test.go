package reports_test

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/safefile"
	"claimsheet/reports"
)

const (
	propertiesHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	relations      = `<Relationships><Relationship Id="r1" Type="http://x/custom-properties" Target="docProps/custom.xml"/></Relationships>`
)

// archiveOf writes a zip file with the parts, name by name.
func archiveOf(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.xlsx")
	f := must(os.Create(path))(t)
	z := zip.NewWriter(f)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = io.WriteString(w, parts[i+1])
		}
		noError(t, err)
	}
	noError(t, errors.Join(z.Close(), f.Close()))
	return path
}

// partsOf are the parts of a zip file as they are stored, by name.
func partsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	z := must(zip.OpenReader(path))(t)
	defer z.Close()
	parts := map[string]string{}
	for _, f := range z.File {
		r := must(f.OpenRaw())(t)
		data := must(io.ReadAll(r))(t)
		parts[f.Name] = string(data)
	}
	return parts
}

// TestMark: a property is set in a workbook of whoever's writing, and nothing
// else in it changes.
func TestMark(t *testing.T) {
	t.Parallel()
	for name, custom := range map[string]string{
		"excelize": `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">` +
			`<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="claimsheet.kind"><vt:lpwstr>results</vt:lpwstr></property></Properties>`,
		"prefixed": `<p:Properties xmlns:p="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" xmlns:v="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">` +
			"\n <p:property pid=\"7\" name=\"claimsheet.kind\" fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\">\n  <v:lpwstr>results</v:lpwstr>\n </p:property>\n</p:Properties>\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := archiveOf(t, "[Content_Types].xml", "<Types/>", "_rels/.rels", relations, "docProps/custom.xml", propertiesHead+custom, "xl/sheet.xml", strings.Repeat("cells ", 1000))
			noError(t, os.Chmod(path, 0o640))
			before := partsOf(t, path)
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
				if digest, err := safefile.Digest(path); err != nil || digest != said {
					t.Errorf("the digest is %s, said was %s (%v)", digest, said, err)
				}
				property, ours, err := reports.IsOurs(path)
				if err != nil || !ours || len(property) != 2 || property["claimsheet.open"] != value || property["claimsheet.kind"] != "results" {
					t.Errorf("%v, %v", property, err)
				}
			}
			after := partsOf(t, path)
			for _, part := range []string{"[Content_Types].xml", "xl/sheet.xml"} {
				if after[part] != before[part] {
					t.Errorf("%s has changed", part)
				}
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".claimsheet-*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	for name, text := range map[string]string{"docProps/custom.xml": "<a>", "xl/sheet.xml": "<a/>"} { // damaged properties; no properties
		if err := reports.Mark(archiveOf(t, name, text), map[string]string{"x": "y"}, func(string) error { return nil }); err == nil {
			t.Errorf("a workbook of %s alone was marked", name)
		}
	}
}
