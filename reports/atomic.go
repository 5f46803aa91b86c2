package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// writeAtomically makes a file at path from what write writes; write may keep
// temporary files in scratch. Everything happens in a folder beside path that
// only its owner can enter, and that is gone afterwards.
func writeAtomically(path string, write func(dst io.Writer, scratch string) error) (w Written, err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(path), ".claimsheet-")
	if err != nil {
		return Written{}, err
	}
	defer func() {
		if removal := os.RemoveAll(scratch); err == nil {
			err = removal
		}
	}()
	temp, err := os.CreateTemp(scratch, "new-*.xlsx") // 0600
	if err != nil {
		return Written{}, err
	}
	digest := sha256.New()
	err = write(io.MultiWriter(temp, digest), scratch)
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return Written{}, err
	}
	path, err = moveInto(temp.Name(), path)
	if err != nil {
		return Written{}, err
	}
	return Written{Path: path, Digest: hex.EncodeToString(digest.Sum(nil))}, syncFolder(filepath.Dir(path))
}

// moveInto renames temp to path. Where path cannot be replaced, as a workbook
// that is open in Excel cannot under Windows, the next free of NAME.2.xlsx,
// NAME.3.xlsx … is taken: a finished workbook is not thrown away.
func moveInto(temp, path string) (string, error) {
	refused := os.Rename(temp, path)
	if refused == nil {
		return path, nil
	}
	ext := filepath.Ext(path)
	for n := 2; n < 100; n++ {
		other := fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), n, ext)
		if _, err := os.Lstat(other); !os.IsNotExist(err) {
			continue
		}
		if os.Rename(temp, other) == nil {
			return other, nil
		}
	}
	return "", refused
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
