package xlsx

import (
	"archive/zip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/xuri/excelize/v2"
)

const propertiesPart = "docProps/custom.xml"

// maxProperties bounds the part of a file from anywhere.
const maxProperties = 1 << 20

// ReadProperties returns the custom text properties of the workbook at path. Only
// they are read, so it is fast for any size. A file that is not a workbook has none;
// an error means that the file could not be read.
func ReadProperties(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would block for ever
		return nil, err
	}
	// os.Open first: archive/zip returns similar errors for an unreadable file and
	// for one that is not an archive.
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	archive, err := zip.NewReader(f, info.Size())
	if errors.Is(err, zip.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(archive.File, isProperties)
	if at < 0 {
		return nil, nil
	}
	part, err := readPart(archive.File[at], maxProperties)
	if err != nil {
		return nil, nil
	}
	found, err := holding(part).GetCustomProps()
	if err != nil {
		return nil, nil // a damaged part has none
	}
	properties := map[string]string{}
	for _, p := range found {
		if text, ok := p.Value.(string); ok && text != "" {
			properties[p.Name] = text
		}
	}
	return properties, nil
}

func isProperties(part *zip.File) bool { return part.Name == propertiesPart }

// holding returns a workbook with these properties in place of none.
func holding(part []byte) *excelize.File {
	f := excelize.NewFile()
	f.Pkg.Store(propertiesPart, part)
	return f
}

// CopyWithProperties copies a workbook with custom text properties set; "" removes
// one. All other parts are copied byte by byte. A workbook without any custom
// properties is an error.
func CopyWithProperties(dst io.Writer, from *zip.Reader, properties map[string]string) error {
	to := zip.NewWriter(dst)
	at := slices.IndexFunc(from.File, isProperties)
	if at < 0 {
		return errors.New("the workbook has no custom document properties")
	}
	for i, part := range from.File {
		if i != at {
			if err := to.Copy(part); err != nil {
				return err
			}
			continue
		}
		content, err := readPart(part, maxProperties)
		if err != nil {
			return err
		}
		file := holding(content)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			changed := excelize.CustomProperty{Name: name}
			if value := properties[name]; value != "" {
				changed.Value = value
			}
			if err := file.SetCustomProps(changed); err != nil {
				return err
			}
		}
		w, err := to.Create(propertiesPart)
		if err != nil {
			return err
		}
		text, _ := file.Pkg.Load(propertiesPart)
		if _, err := w.Write(text.([]byte)); err != nil {
			return err
		}
	}
	return to.Close()
}
