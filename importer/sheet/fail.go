package sheet

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"claimsheet/mapping/problem"
)

// damage says that a part of the workbook is not as it must be. Text never
// quotes what the part holds, for that is personal data.
type damage struct {
	part string // "" for the zip file as a whole
	text string
}

func (d damage) Error() string {
	if d.part == "" {
		return "the workbook is damaged: " + d.text
	}
	return fmt.Sprintf("the workbook is damaged: %s: %s", d.part, d.text)
}

func damaged(part, format string, args ...any) error {
	return damage{part, fmt.Sprintf(format, args...)}
}

// asProblem turns any error of reading into a problem, about the file unless it
// names a place in it.
func asProblem(path string, err error) error {
	at := problem.Where{File: path}
	var list problem.List
	var p problem.Problem
	var d damage
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &p):
		if p.Where == (problem.Where{}) {
			p.Where = at
		}
		return p
	case errors.As(err, &d):
		return problem.At(at, "damaged-workbook", "%s", d.Error()).
			Hinted("open it in a spreadsheet program, check that nothing is missing, and save it again")
	}
	return problem.At(at, "cannot-read", "cannot be read: %s", reason(err))
}

// partError tells damage of a part from trouble of the disk below it.
func partError(part string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zip.ErrChecksum):
		return damaged(part, "its checksum does not match")
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.As(err, &corrupt):
		return damaged(part, "it cannot be unpacked")
	case errors.Is(err, zip.ErrAlgorithm):
		return damaged(part, "it is packed in an unknown way")
	}
	return err
}

// reason is an error of the operating system without the path, which the
// problem names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
