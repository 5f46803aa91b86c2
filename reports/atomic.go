package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// readBack is a file that was just written, as far as it has been.
type readBack interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// writeAtomically makes a file at its place from what write writes; write may read
// it back before it returns. Everything happens in a folder beside the place that
// only its owner can enter, and that is gone afterwards.
func writeAtomically(place Placement, write func(dst io.Writer, file readBack) error) (w Written, err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(place.Path), ".claimsheet-")
	if err != nil {
		return Written{}, err
	}
	defer func() {
		if removal := os.RemoveAll(scratch); err == nil {
			err = removal
		}
	}()
	temp, err := os.CreateTemp(scratch, "new-*") // 0600
	if err != nil {
		return Written{}, err
	}
	digest := sha256.New()
	err = write(io.MultiWriter(temp, digest), temp)
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return Written{}, err
	}
	if place, err = place.put(temp.Name()); err != nil {
		return Written{}, err
	}
	return Written{Path: place.Path, Aside: place.Aside, Digest: hex.EncodeToString(digest.Sum(nil))}, syncFolder(filepath.Dir(place.Path))
}

// freeName is the next free of NAME.2.xlsx, NAME.3.xlsx …
func freeName(path string) (string, bool) {
	ext := filepath.Ext(path)
	for n := 2; n < 1000; n++ {
		other := fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), n, ext)
		if _, err := os.Lstat(other); os.IsNotExist(err) {
			return other, true
		}
	}
	return "", false
}

// syncFolder makes a rename durable. Windows knows no such call.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
