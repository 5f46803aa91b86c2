package sheet

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"claimsheet/mapping/problem"
)

// unpacked reads a gzip file to its end, which compares its checksum. The
// limits are those of a workbook's sheet.
type unpacked struct {
	*gzip.Reader
	packed *counter
	size   int64 // unpacked so far
}

func unpack(r io.Reader) (*unpacked, error) {
	packed := &counter{r: r}
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, gzipError(err)
	}
	return &unpacked{Reader: z, packed: packed}, nil
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	u.size += int64(n)
	if u.size > maxSheetBytes || u.size > freeRatio && u.size/maxRatio > u.packed.n {
		return 0, problem.New("file-too-large", "the file is refused: what it unpacks to is too large").
			Hinted("split the sheet into several files")
	}
	return n, gzipError(err)
}

// gzipError tells damage from trouble of the disk. A reader that was cut short
// says so by io.ErrUnexpectedEOF.
func gzipError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrChecksum):
		return damagedFile("its checksum does not match")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &corrupt):
		return damagedFile("it is cut short or cannot be unpacked")
	}
	return err
}

func damagedFile(why string) problem.Problem {
	return problem.New("damaged-file", "the file is damaged: %s", why).Hinted("export it again, or copy it again")
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
