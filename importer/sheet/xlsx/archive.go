package xlsx

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"

	"claimsheet/mapping/problem"
)

// Limits against files made to exhaust the machine. A full sheet of 1,048,576
// rows by 60 columns passes all of them, unless more than ten million texts differ.
const (
	maxEntries     = 10_000
	maxSheetBytes  = 8 << 30   // unpacked; streamed, so it costs time and no memory
	maxStringBytes = 512 << 20 // of the shared strings, unpacked; their texts are kept in memory
	maxPartBytes   = 64 << 20
	maxRatio       = 300      // unpacked to packed; sheets reach 30, the densest deflate 1,032
	freeRatio      = 16 << 20 // unpacked size up to which any ratio is taken
)

// archive is the zip file of a workbook. Parts are found by name, ignoring case.
type archive struct {
	parts map[string]*zip.File
}

// openArchive reads the directory of the zip file. Names that differ only in case
// are duplicates, as in spreadsheet programs: nobody knows which of the two parts
// is the right one.
func openArchive(file io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(io.NewSectionReader(file, 0, size), size) // a part that is said to be elsewhere is at its end
	if errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, damaged("", "it is incomplete or not a zip file")
	} else if err != nil {
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	if len(z.File) > maxEntries {
		return nil, tooLarge("it has more than 10,000 parts")
	}
	a := &archive{parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		key := partKey(f.Name)
		if strings.HasSuffix(key, "/") {
			continue
		}
		if a.parts[key] != nil {
			return nil, damaged("", "it holds two parts of the name %q", f.Name)
		}
		if f.CompressedSize64 > uint64(size) {
			return nil, damaged(f.Name, "its size is given as larger than the file")
		}
		a.parts[key] = f
	}
	return a, nil
}

// partKey returns the key of a part. Some programs write backslashes or a leading
// slash.
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

func (a *archive) has(name string) bool { return a.parts[partKey(name)] != nil }

// open opens a part that unpacks to at most limit bytes. Reading it to its end
// compares its checksum and size with the directory's.
func (a *archive) open(name string, limit uint64) (*part, error) {
	f := a.parts[partKey(name)]
	if f == nil {
		return nil, damaged(name, "the part is missing")
	}
	size := f.UncompressedSize64
	if size > limit || size > freeRatio && size/maxRatio > f.CompressedSize64 {
		return nil, tooLarge("its part " + f.Name + " is too large when unpacked")
	}
	r, err := f.Open()
	if err != nil {
		return nil, partError(f.Name, err)
	}
	return &part{name: f.Name, size: size, ReadCloser: r}, nil
}

// part is an open part of the archive. Its errors name it.
type part struct {
	name string
	size uint64 // unpacked
	io.ReadCloser
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = partError(p.name, err)
	}
	return n, err
}

// damaged reports a part that is not as it must be; part is "" for the file as a
// whole. The text never quotes the part's contents: they are personal data.
func damaged(part, format string, args ...any) problem.Problem {
	text := fmt.Sprintf(format, args...)
	if part != "" {
		text = part + ": " + text
	}
	return problem.New("damaged-workbook", "the workbook is damaged: %s", text).
		Hinted("open it in a spreadsheet program, check that nothing is missing, and save it again")
}

// partError turns errors of a damaged part into a problem and leaves errors of the
// disk as they are.
func partError(part string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrChecksum):
		return damaged(part, "its checksum does not match")
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrAlgorithm), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.As(err, &corrupt):
		return damaged(part, "it cannot be unpacked")
	}
	return err
}

func tooLarge(why string) problem.Problem {
	return problem.New("workbook-too-large", "the workbook is refused: %s", why).
		Hinted("remove what is not needed, or split the sheet into several files")
}
