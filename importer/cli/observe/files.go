package observe

import (
	"errors"
	"io"
	"io/fs"
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
// like a log of Claimsheet, or one of logDevices. Anything else may be somebody's
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

// checkMetricsFile refuses a file for metrics that exists and does not hold metrics
// that Claimsheet wrote.
func checkMetricsFile(path string) error {
	at := problem.Where{File: path}
	info, err := os.Lstat(path)
	switch {
	case safefile.IsFolder(path) || !safefile.IsFolder(filepath.Dir(path)):
		return problem.At(at, "metrics-file", "the metrics cannot be written there: a file in a folder that exists was expected").
			Hinted("make the folder, or name a file in another")
	case errors.Is(err, fs.ErrNotExist):
		return refuseStateFolder(path, "metrics-file", "the metrics")
	case err != nil:
		return problem.At(at, "metrics-file", "the metrics cannot be written there: %v", problem.Cause(err))
	case !info.Mode().IsRegular():
		return problem.At(at, "metrics-file", "this is %s; a new file, or metrics that Claimsheet wrote, were expected", safefile.Kind(info)).
			Hinted("name a file")
	}
	if err := safefile.Owner(path); err != nil {
		return err
	}
	file, err := safefile.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if !begins(file, "# HELP claimsheet_") {
		return problem.At(at, "metrics-file", "the file does not hold metrics that Claimsheet wrote, and no other file is replaced").
			Hinted("name a new file")
	}
	return refuseStateFolder(path, "metrics-file", "the metrics")
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
