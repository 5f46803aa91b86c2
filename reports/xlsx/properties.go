package xlsx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
)

const propertiesPart = "docProps/custom.xml"

// maxProperties bounds the part of a file from anywhere.
const maxProperties = 1 << 20

// SetProperty sets a custom document property; "" leaves it out.
func (w *Workbook) SetProperty(name, value string) {
	if value != "" {
		w.properties[name] = value
	}
}

const endProperties = `</Properties>`

// customProperties returns the part with the properties, sorted by name.
func customProperties(properties map[string]string) []byte {
	b := []byte(xmlHeader + `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties">`)
	for i, name := range slices.Sorted(maps.Keys(properties)) {
		b = appendProperty(b, i+firstPropertyID, name, properties[name])
	}
	return append(b, endProperties...)
}

// firstPropertyID is the lowest number that a property may have.
const firstPropertyID = 2

// appendProperty appends a text property. It names its own namespaces, so that it
// fits into any program's part.
func appendProperty(dst []byte, id int, name, value string) []byte {
	dst = fmt.Appendf(dst, `<property xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"`+
		` fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="%d" name="%s">`+
		`<vt:lpwstr xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">`, id, attribute.Replace(name))
	escaped := bytes.NewBuffer(dst)
	_ = xml.EscapeText(escaped, []byte(value)) // a buffer does not fail
	return append(escaped.Bytes(), `</vt:lpwstr></property>`...)
}

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
	part, err := archive.Open(propertiesPart)
	if err != nil {
		return nil, nil
	}
	defer part.Close()
	return parseProperties(io.LimitReader(part, maxProperties)), nil
}

// parseProperties parses the text properties of docProps/custom.xml; a damaged part
// has none.
func parseProperties(r io.Reader) map[string]string {
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

// CopyWithProperties copies a workbook with custom text properties set; "" removes
// one. All other parts are copied byte by byte. A workbook without any custom
// properties is an error.
func CopyWithProperties(dst io.Writer, from *zip.Reader, properties map[string]string) error {
	to, found := zip.NewWriter(dst), false
	for _, part := range from.File {
		if part.Name != propertiesPart || found {
			if err := to.Copy(part); err != nil {
				return err
			}
			continue
		}
		found = true
		text, err := readPart(part)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if err == nil {
				text, err = replaceProperty(text, name, properties[name])
			}
		}
		if err != nil {
			return err
		}
		w, err := to.Create(propertiesPart)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return errors.New("the workbook has no custom document properties")
	}
	return to.Close()
}

func readPart(part *zip.File) ([]byte, error) {
	r, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxProperties+1))
	if err == nil && len(data) > maxProperties {
		err = errors.New("the workbook has too many document properties")
	}
	return data, err
}

var (
	oneProperty = regexp.MustCompile(`(?s)<(?:\w+:)?property\b[^>]*?>.*?</(?:\w+:)?property\s*>`)
	propertyID  = regexp.MustCompile(`\bpid="(\d+)"`)
	lastEnd     = regexp.MustCompile(`</(?:\w+:)?Properties\s*>\s*$`)
)

// replaceProperty sets a property in the text of docProps/custom.xml, whichever
// program wrote it.
func replaceProperty(text []byte, name, value string) ([]byte, error) {
	named := []byte(`name="` + name + `"`)
	most := firstPropertyID - 1
	text = oneProperty.ReplaceAllFunc(text, func(p []byte) []byte {
		if bytes.Contains(p[:bytes.IndexByte(p, '>')], named) {
			return nil
		}
		if m := propertyID.FindSubmatch(p); m != nil {
			id, _ := strconv.Atoi(string(m[1]))
			most = max(most, id)
		}
		return p
	})
	end := lastEnd.FindIndex(text)
	if end == nil {
		return nil, errors.New("the workbook's document properties cannot be read")
	}
	if value == "" {
		return text, nil
	}
	return slices.Concat(text[:end[0]], appendProperty(nil, most+1, name, value), text[end[0]:]), nil
}
