package reports

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
)

// KindProperty is the document property by which a workbook of ours is known;
// its value is a Kind. WriteWorkbook sets it.
const KindProperty = "claimsheet.kind"

// Kind is what a workbook of ours is.
type Kind string

// The kinds.
const (
	Results Kind = "results"
	Plan    Kind = "plan" // of a dry run
)

func kindOf(s result.Summary) Kind {
	if s.DryRun {
		return Plan
	}
	return Results
}

// bind writes the binding into the workbook's custom properties.
func (w *workbook) bind(b Book) error {
	binding := maps.Clone(b.Binding)
	if binding == nil {
		binding = map[string]string{}
	}
	binding[KindProperty] = string(kindOf(b.Summary))
	for _, name := range slices.Sorted(maps.Keys(binding)) {
		if binding[name] == "" {
			continue
		}
		if err := w.SetCustomProps(excelize.CustomProperty{Name: name, Value: binding[name]}); err != nil {
			return err
		}
	}
	return nil
}

// maxProperties bounds what is read of a file that may be anybody's.
const maxProperties = 1 << 20

// IsOurs tells whether path is a workbook that Claimsheet wrote, edited since or
// not, and returns its binding (with KindProperty). Only the properties are
// read, so it is quick for any size. A file that is no workbook is not ours; an
// error means that the file could not be read.
func IsOurs(path string) (binding map[string]string, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, false, err
	}
	// os.Open first: archive/zip would call an unreadable file and one that is
	// no archive by similar names.
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	archive, err := zip.NewReader(f, info.Size())
	if errors.Is(err, zip.ErrFormat) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	part, err := archive.Open(propertiesPart)
	if err != nil {
		return nil, false, nil
	}
	defer part.Close()
	binding = readProperties(io.LimitReader(part, maxProperties))
	return binding, binding[KindProperty] != "", nil
}

// readProperties reads the text properties of docProps/custom.xml; a damaged
// part has none.
func readProperties(r io.Reader) map[string]string {
	var doc struct {
		Property []struct {
			Name string `xml:"name,attr"`
			Text string `xml:"lpwstr"`
		} `xml:"property"`
	}
	if err := xml.NewDecoder(r).Decode(&doc); err != nil {
		return nil
	}
	properties := map[string]string{}
	for _, p := range doc.Property {
		if p.Text != "" {
			properties[p.Name] = p.Text
		}
	}
	return properties
}
