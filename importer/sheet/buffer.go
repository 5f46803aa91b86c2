package sheet

import (
	"bytes"
	"io"
)

// want reads on until n bytes are there.
func (s *scanner) want(n int) error {
	for s.end-s.pos < n {
		if err := s.read(); err != nil {
			return err
		}
	}
	return nil
}

// find is the length of the token at pos that ends with stop, sought after
// its first from bytes.
func (s *scanner) find(from int, stop string) (int, error) {
	for {
		window := s.buf[s.pos:s.end]
		if from <= len(window) {
			if i := bytes.Index(window[from:], []byte(stop)); i >= 0 {
				return from + i + len(stop), nil
			}
			from = max(from, len(window)-len(stop)+1)
		}
		if err := s.read(); err != nil {
			return 0, err
		}
	}
}

// read is more inside a token, where the end of the bytes is damage.
func (s *scanner) read() error {
	err := s.more()
	if err == io.EOF {
		return s.short()
	}
	return err
}

// more reads on; buf[pos:end] grows, or the error is not nil.
func (s *scanner) more() error {
	if s.pos > 0 && s.end-s.pos <= len(s.buf)/2 {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxToken {
			return s.damaged("it holds a text or tag of more than 4 MiB")
		}
		bigger := make([]byte, 2*len(s.buf))
		s.end = copy(bigger, s.buf[s.pos:s.end])
		s.pos, s.buf = 0, bigger
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return nil // an error that came with bytes comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
