package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"claimsheet/importer/safefile"
)

const privatePrefix = "claimsheet-"

// privatePlace is the folder for a ledger's emergency files among the temporary
// files, which everybody may write to.
func privatePlace(ledgerPath string) string {
	hash := sha256.Sum256([]byte(ledgerPath))
	return filepath.Join(os.TempDir(), privatePrefix+hex.EncodeToString(hash[:8]))
}

func isPrivatePlace(place string) bool {
	return filepath.Dir(place) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(place), privatePrefix)
}

// readyPlace makes the private place where it is missing, and refuses one that
// is not ours alone. No other folder is made: where the state folder is gone,
// an empty one in its place would pass for a new one.
func readyPlace(place string) error {
	if !isPrivatePlace(place) {
		return nil
	}
	if err := os.Mkdir(place, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(place)
	if err != nil {
		return err
	}
	if !info.IsDir() || !safefile.Ours(info) || lax(info, 0o077) {
		return errors.New("the folder is not this user's alone")
	}
	return nil
}

// readOwn reads a plain file that nobody else can have written.
func readOwn(path string) ([]byte, error) {
	seen, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, errors.New("it is not a plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !os.SameFile(seen, opened):
		return nil, errors.New("it was replaced while it was opened")
	case !safefile.Ours(opened) || lax(opened, 0o022):
		return nil, fmt.Errorf("others may have written it (mode %v)", opened.Mode().Perm())
	}
	return io.ReadAll(f)
}

// lax tells that a file gives one of these rights. Windows has no such modes.
func lax(info fs.FileInfo, rights fs.FileMode) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&rights != 0
}

// syncPlace makes the names in a folder durable. Windows has no such call.
func syncPlace(place string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(place)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
