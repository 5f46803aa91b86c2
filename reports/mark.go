package reports

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

const propertiesPart = "docProps/custom.xml"

// Mark sets document properties of a workbook that IsOurs, "" to have one removed,
// and leaves everything else in it as it is, byte by byte. The file is replaced whole or not at all;
// before that, replacing is told its new SHA-256 in hex, and an error of its ends
// the matter.
func Mark(path string, properties map[string]string, replacing func(digest string) error) error {
	from, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(path), ".claimsheet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	temp, err := os.CreateTemp(scratch, "marked-*") // 0600
	if err != nil {
		return err
	}
	digest := sha256.New()
	err = copyMarked(io.MultiWriter(temp, digest), &from.Reader, properties)
	if err == nil {
		err = temp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := replacing(hex.EncodeToString(digest.Sum(nil))); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// copyMarked copies an archive with properties set.
func copyMarked(dst io.Writer, from *zip.Reader, properties map[string]string) error {
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
				text, err = setProperty(text, name, properties[name])
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
		return errors.New("the workbook has no document properties of its own")
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
		err = errors.New("the workbook's document properties are too many")
	}
	return data, err
}

var (
	oneProperty = regexp.MustCompile(`(?s)<(?:\w+:)?property\b[^>]*?>.*?</(?:\w+:)?property\s*>`)
	propertyID  = regexp.MustCompile(`\bpid="(\d+)"`)
	lastEnd     = regexp.MustCompile(`</(?:\w+:)?Properties\s*>\s*$`)
)

// setProperty sets a property in the text of docProps/custom.xml, whoever wrote
// that.
func setProperty(text []byte, name, value string) ([]byte, error) {
	named := []byte(`name="` + name + `"`)
	most := 1 // the lowest that is allowed is 2
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
	var escaped bytes.Buffer
	if err := xml.EscapeText(&escaped, []byte(value)); err != nil {
		return nil, err
	}
	added := fmt.Appendf(nil, `<property xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"`+
		` fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="%d" name="%s">`+
		`<vt:lpwstr xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">%s</vt:lpwstr></property>`, most+1, name, escaped.Bytes())
	return bytes.Join([][]byte{text[:end[0]], added, text[end[0]:]}, nil), nil
}
