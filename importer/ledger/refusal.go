package ledger

import (
	"errors"

	"claimsheet/mapping/problem"
)

// refusal is an error about the ledger's file that an operator can act on: a
// problem with a hint, and the error of this package that it is a case of.
type refusal struct {
	problem.Problem
	kind error // ErrDamaged, ErrLocked or another cause; may be nil
}

func (r refusal) Unwrap() []error {
	if r.kind == nil {
		return []error{r.Problem}
	}
	return []error{r.kind, r.Problem}
}

// damaged says that the file at path is not a sound ledger.
func damaged(path, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-damaged", format, args...)
	return refusal{p.Hinted("Restore the ledger from a backup, with the files beside it that end in -wal and -shm if there are any. " +
		"Do not delete it: it is what keeps things from being created twice."), ErrDamaged}
}

// unusable says that the path cannot hold a ledger, whatever is in it.
func unusable(path, hint string, cause error, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-file", format, args...)
	return refusal{p.Hinted("%s", hint), cause}
}

// unwritable says that the ledger at path, or what belongs to it, cannot be
// written as things are: it is a case of ErrStopped.
func unwritable(path string, cause error, format string, args ...any) error {
	const hint = "Let this user write to the folder, and see that its disk has room; nothing was sent, so run again then."
	return unusable(path, hint, errors.Join(ErrStopped, cause), format, args...)
}
