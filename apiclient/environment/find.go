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

// Find is where the environments file is: at flag, if that is given (whether
// or not it exists: Load will tell), else beside the mapping, if one is there;
// without a mapping, in the current folder. ok is false when there is none.
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

// StateDir is the folder that the ledger and the kept inputs go into: flag, if
// that is given, else .claimsheet beside the environments file, else beside
// the mapping. It is "" when there is neither: the current folder is never
// taken by accident, because a run from elsewhere would not find its ledger.
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
