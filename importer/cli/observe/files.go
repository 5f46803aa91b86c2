package observe

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// logDevices may be named as log files.
var logDevices = []string{"/dev/null", "/dev/stdout", "/dev/stderr"}

// openLogFile opens a file to append a log to: a new or empty file, one that begins
// like a log of Claimsheet, or one of logDevices. Anything else may be a user's
// data. Only its owner can read a new file.
func openLogFile(path string) (*os.File, error) {
	path = filepath.Clean(path)
	if slices.Contains(logDevices, path) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return nil, problem.At(problem.Where{File: path}, "log-file", "the log cannot be written there: %v", problem.Cause(err))
		}
		return f, nil
	}
	if err := refuseStateFolder(path, "log-file", "the log"); err != nil {
		return nil, err
	}
	file, err := safefile.OpenAppend(path)
	if p, ok := errors.AsType[problem.Problem](err); ok {
		p.Code = "log-file"
		return nil, p.Hinted("name a file in a folder that exists and that this user may write to")
	}
	if err != nil {
		return nil, err
	}
	if !begins(file, "time=", `{"time":"`) {
		_ = file.Close()
		return nil, problem.At(problem.Where{File: path}, "log-file", "the file is not a log that Claimsheet wrote, and a log is added to no other file").
			Hinted("name a new file")
	}
	return file, nil
}

// begins reports whether a file is empty or begins with one of the texts.
func begins(file io.ReaderAt, texts ...string) bool {
	head := make([]byte, 64)
	n, err := file.ReadAt(head, 0)
	if n == 0 {
		return errors.Is(err, io.EOF)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(string(head[:n]), text) })
}

// refuseStateFolder refuses a file in a state folder.
func refuseStateFolder(path, code, what string) error {
	if statefolder.Contains(path) {
		return problem.At(problem.Where{File: path}, code, "%s cannot be written into a state folder: the ledger is kept there", what).
			Hinted("name a file in another folder")
	}
	return nil
}
