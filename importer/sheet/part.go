package sheet

import (
	"bytes"
	"encoding/binary"
	"io"
)

// The encodings in which a part may be written.
const (
	inUTF8  = "utf-8"
	inUTF16 = "utf-16"
)

// part is an open part of the archive, read as UTF-8; its errors name it.
type part struct {
	name     string
	size     uint64 // unpacked
	encoding string // in which it is written
	r        io.Reader
	io.Closer
}

// newPart looks at the first bytes of a part, which tell its encoding: UTF-16
// has a byte order mark, or shows in the < that every part begins with.
func newPart(name string, size uint64, r io.ReadCloser) (*part, error) {
	p := &part{name: name, size: size, encoding: inUTF8, Closer: r}
	head := make([]byte, 2)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		r.Close()
		return nil, partError(name, err)
	}
	p.r = io.MultiReader(bytes.NewReader(head[:n]), r)
	switch string(head) {
	case "\xFF\xFE":
		p.decode(r, binary.LittleEndian)
	case "\xFE\xFF":
		p.decode(r, binary.BigEndian)
	case "<\x00":
		p.decode(p.r, binary.LittleEndian)
	case "\x00<":
		p.decode(p.r, binary.BigEndian)
	}
	return p, nil
}

func (p *part) decode(r io.Reader, order binary.ByteOrder) {
	p.encoding = inUTF16
	p.r = &utf16Reader{part: p.name, r: r, encoding: utf16Encoding{order}, spare: make([]byte, 4<<10)}
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		err = partError(p.name, err)
	}
	return n, err
}

// utf16Reader gives the text of a part in UTF-16 as UTF-8. Half a character is
// damage.
type utf16Reader struct {
	part     string
	r        io.Reader
	encoding utf16Encoding
	in       []byte // read and not decoded yet
	spare    []byte // the space of in
	out      []byte // decoded and not given out yet
	buf      []byte // the space of out
	err      error  // what ends the part; it stays
}

func (u *utf16Reader) Read(b []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(b, u.out)
	u.out = u.out[n:]
	return n, nil
}

// fill decodes the next piece, or sets err.
func (u *utf16Reader) fill() {
	kept := copy(u.spare, u.in)
	n, err := u.r.Read(u.spare[kept:])
	u.in = u.spare[:kept+n]
	decoded, taken, bad := u.encoding.decode(u.buf[:0], u.in)
	u.out, u.buf, u.in = decoded, decoded, u.in[taken:]
	switch {
	case bad > 0, err == io.EOF && len(u.in) > 0:
		u.err = damaged(u.part, "it holds half a character of UTF-16")
	case err != nil:
		u.err = err
	}
}
