package reports

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// onDisk is a file that holds other bytes than those that were written.
type onDisk struct{ *bytes.Reader }

func (d onDisk) Stat() (fs.FileInfo, error) { return sized(d.Size()), nil }

type sized int64

func (s sized) Size() int64      { return int64(s) }
func (sized) Name() string       { return "" }
func (sized) Mode() fs.FileMode  { return 0o600 }
func (sized) ModTime() time.Time { return time.Time{} }
func (sized) IsDir() bool        { return false }
func (sized) Sys() any           { return nil }

// What the disk has changed is found before it takes the place of anything:
// any byte of the parts, and any cut.
func TestVerify(t *testing.T) {
	var file bytes.Buffer
	w, err := writeBook(&file, linkedBook(20, func(int) string { return "https://go.example.test/" }))
	if err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	if err := w.verify(onDisk{bytes.NewReader(whole)}); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 997 {
		if err := w.verify(onDisk{bytes.NewReader(whole[:n])}); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", n, len(whole))
		}
	}
	// The first part is a sheet: a bit of what is packed.
	damaged := bytes.Clone(whole)
	damaged[200] ^= 1
	if err := w.verify(onDisk{bytes.NewReader(damaged)}); err == nil {
		t.Error("a bit was changed: no error")
	}
	for path := range w.counted {
		w.counted[path]++
		if err := w.verify(onDisk{bytes.NewReader(whole)}); err == nil || !strings.Contains(err.Error(), "rows were written") {
			t.Errorf("%s has a row too few: %v", path, err)
		}
		w.counted[path]--
	}
}
