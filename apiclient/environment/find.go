package environment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const fileName = "environments.yaml"

// Find returns the path of the environments file: flag, if it is given (whether
// the file exists or not: Load reports that), else environments.yaml beside the
// mapping; without a mapping, in the current folder. ok is false when there is no
// such file.
func Find(mappingPath, flag string) (path string, ok bool) {
	if flag != "" {
		return flag, true
	}
	path = filepath.Join(filepath.Dir(mappingPath), fileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	return path, true
}
