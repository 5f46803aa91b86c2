package environment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	fileName    = "environments.yaml"
	stateFolder = ".claimsheet"
)

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

// StateDir returns the folder of the ledger and of the kept inputs: flag, if it is
// given, else .claimsheet beside the environments file, else beside the mapping.
// It is "" when there is neither. It is never the current folder, because a run
// from another folder would not find the ledger.
func StateDir(mappingPath, environmentsPath, flag string) string {
	switch {
	case flag != "":
		return flag
	case environmentsPath != "":
		return filepath.Join(filepath.Dir(environmentsPath), stateFolder)
	case mappingPath != "":
		return filepath.Join(filepath.Dir(mappingPath), stateFolder)
	}
	return ""
}
