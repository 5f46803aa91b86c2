package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// refuseShared refuses a state folder of another user, and one that other users
// of this machine could put files into, or exchange for another one: they could
// plant a ledger or a link there. What is not there yet will be made for this user alone. Windows
// has no such modes; its folders inherit who may do what.
func refuseShared(state string) error {
	if runtime.GOOS == "windows" || state == "" {
		return nil
	}
	dir, err := filepath.Abs(state)
	if err != nil {
		return err
	}
	if err := safefile.Owner(dir); err != nil {
		return err
	}
	for forbidden := os.FileMode(0o022); ; forbidden = 0o002 {
		info, err := os.Stat(dir)
		switch {
		case err != nil || !info.IsDir(): // whoever makes or opens something there will say so
		case info.Mode().Perm()&forbidden != 0 && (forbidden == 0o022 || info.Mode()&os.ModeSticky == 0):
			return problem.At(problem.Where{File: dir}, "state-folder", "other users can write to the folder (mode %04o), and so could change what the ledger says is done",
				info.Mode().Perm()).Hinted("%s; or name another state folder with --state", fix(dir, forbidden))
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir = above
	}
}

func fix(dir string, forbidden os.FileMode) string {
	if forbidden == 0o022 {
		return fmt.Sprintf("chmod go-w %s", dir)
	}
	return fmt.Sprintf("chmod o-w %s", dir)
}
