package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// stateName is the name of a state folder that --state does not name.
const stateName = ".claimsheet"

// StatePath returns the state folder: flag, else .claimsheet beside the environments file, else beside the mapping, else ""; never in the
// current folder, because a run from another folder would not find the ledger.
func StatePath(mappingFile, environmentsFile, flag string) string {
	switch {
	case flag != "":
		return flag
	case environmentsFile != "":
		return filepath.Join(filepath.Dir(environmentsFile), stateName)
	case mappingFile != "":
		return filepath.Join(filepath.Dir(mappingFile), stateName)
	}
	return ""
}

// SandboxFolder returns the state folder of the sandbox, which is inside another. Its ledger and its data are lost together or not at all.
func SandboxFolder(folder string) string { return filepath.Join(folder, "sandbox") }

// LedgerFile returns the path of the ledger in a state folder.
func LedgerFile(folder string) string { return filepath.Join(folder, "ledger.db") }

// InputsFolder returns the folder in a state folder that has the kept copies of sheets.
func InputsFolder(folder string) string { return filepath.Join(folder, "inputs") }

// TrackingFolder returns the folder in a state folder that has the events of an environment's webhook until the ledger takes them.
func TrackingFolder(folder, environment string) string {
	return filepath.Join(folder, "tracking", url.PathEscape(environment))
}

// StudioFile returns the file in a state folder that keeps what studio has not saved of a mapping.
func StudioFile(folder, mappingFile string) string {
	sum := sha256.Sum256([]byte(safefile.Absolute(mappingFile)))
	return filepath.Join(folder, "studio", hex.EncodeToString(sum[:8])+".json")
}

// IsInStateFolder reports whether a file is in a state folder, where a ledger and the files beside it are known by their names.
func IsInStateFolder(path string) bool {
	dir := filepath.Dir(safefile.Absolute(path))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		_, err := os.Lstat(LedgerFile(dir))
		if err == nil || filepath.Base(dir) == stateName {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

// CheckState refuses a state folder that belongs to another user, or that others can write to or replace: they could plant a ledger or a
// link. One that does not exist yet passes: it will be this user's alone. So does any on Windows, which has no such modes.
func CheckState(folder string) error {
	if runtime.GOOS == "windows" || folder == "" {
		return nil
	}
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := safefile.Owner(dir); err != nil {
		return err
	}
	for forbidden, classes := os.FileMode(0o022), "go"; ; forbidden, classes = 0o002, "o" { // a folder above may be its group's
		info, err := os.Stat(dir)
		switch {
		case err != nil || !info.IsDir(): // reported when something is created or opened there
		case info.Mode().Perm()&forbidden != 0 && (classes == "go" || info.Mode()&os.ModeSticky == 0):
			return problem.At(problem.Where{File: dir}, "state-folder",
				"other users can write to the folder (mode %04o), and so could change what the ledger says is done",
				info.Mode().Perm()).Hinted("%s; or name another state folder with --state", fmt.Sprintf("chmod %s-w %s", classes, dir))
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir = above
	}
}
