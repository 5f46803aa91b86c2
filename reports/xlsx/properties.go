package xlsx

import (
	"archive/zip"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

const propertiesPart = "docProps/custom.xml"

// PropertiesSheet is a hidden sheet that repeats the custom properties, because some programs drop those when they save. It lacks those
// that are set in a workbook later, whose names begin with laterPrefix.
const (
	PropertiesSheet = "Claimsheet"
	laterPrefix     = "claimsheet.next-"
)

// writeProperties writes the hidden sheet.
func (w *Writer) writeProperties() {
	if len(w.properties) == 0 {
		return
	}
	s := w.NewSheet(Layout{Name: PropertiesSheet, Widths: []float64{30, 60}})
	for _, name := range slices.Sorted(maps.Keys(w.properties)) {
		if !strings.HasPrefix(name, laterPrefix) {
			s.Row(Style{}, name, w.properties[name])
		}
	}
	_ = s.Close() // the error stays
	w.fail(w.file.SetSheetVisible(PropertiesSheet, false))
}

// CopyWithProperties copies a workbook of ours with these custom text properties in
// place of its own. All other parts are copied byte by byte.
func CopyWithProperties(dst io.Writer, from *zip.Reader, properties map[string]string) error {
	file := excelize.NewFile()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if err := file.SetCustomProps(excelize.CustomProperty{Name: name, Value: properties[name]}); err != nil {
			return err
		}
	}
	content, _ := file.Pkg.Load(propertiesPart)
	to := zip.NewWriter(dst)
	for _, part := range from.File {
		if part.Name == propertiesPart {
			continue
		}
		if err := to.Copy(part); err != nil {
			return err
		}
	}
	w, err := to.Create(propertiesPart)
	if err != nil {
		return err
	}
	if _, err := w.Write(content.([]byte)); err != nil {
		return err
	}
	return to.Close()
}
