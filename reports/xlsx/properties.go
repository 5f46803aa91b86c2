package xlsx

import (
	"archive/zip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

const propertiesPart = "docProps/custom.xml"

// maxProperties bounds the part of a file from anywhere.
const maxProperties = 1 << 20

// ReadProperties returns the custom text properties of the workbook at path. Only
// they are read, so it is fast for any size. A file that is not a workbook gives nil, one
// with damaged properties has none; an error means that the file could not be read.
func ReadProperties(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would block for ever
		return nil, err
	}
	archive, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	properties := map[string]string{}
	if file, _, err := openProperties(&archive.Reader); err == nil {
		found, _ := file.GetCustomProps()
		for _, p := range found {
			if text, ok := p.Value.(string); ok && text != "" {
				properties[p.Name] = text
			}
		}
	}
	return properties, nil
}

// PropertiesSheet is a hidden sheet that repeats the custom properties, because some programs
// drop those when they save. It lacks those that are set in a workbook later, whose names begin
// with laterPrefix.
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

// openProperties returns the part of a workbook with its custom properties, and an empty
// workbook that has the same ones.
func openProperties(archive *zip.Reader) (*excelize.File, *zip.File, error) {
	at := slices.IndexFunc(archive.File, func(part *zip.File) bool { return part.Name == propertiesPart })
	if at < 0 {
		return nil, nil, errors.New("the workbook has no custom document properties")
	}
	part, err := archive.File[at].Open()
	if err != nil {
		return nil, nil, err
	}
	defer part.Close()
	content, err := io.ReadAll(io.LimitReader(part, maxProperties)) // one that is cut is damaged
	if err != nil {
		return nil, nil, err
	}
	file := excelize.NewFile()
	file.Pkg.Store(propertiesPart, content)
	return file, archive.File[at], nil
}

// CopyWithProperties copies a workbook with custom text properties set; "" removes
// one. All other parts are copied byte by byte. A workbook without any custom
// properties is an error.
func CopyWithProperties(dst io.Writer, from *zip.Reader, properties map[string]string) error {
	file, old, err := openProperties(from)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		changed := excelize.CustomProperty{Name: name}
		if value := properties[name]; value != "" {
			changed.Value = value
		}
		if err := file.SetCustomProps(changed); err != nil {
			return err
		}
	}
	content, _ := file.Pkg.Load(propertiesPart)
	to := zip.NewWriter(dst)
	for _, part := range from.File {
		if part != old {
			err = to.Copy(part)
		} else if w, createErr := to.Create(propertiesPart); createErr == nil {
			_, err = w.Write(content.([]byte))
		} else {
			err = createErr
		}
		if err != nil {
			return err
		}
	}
	return to.Close()
}
