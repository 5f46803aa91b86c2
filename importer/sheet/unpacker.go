package sheet

import (
	"io"
	"sync"
)

const (
	aheadBytes  = 64 << 10 // are unpacked at a time
	aheadBlocks = 4        // at most are unpacked and not read yet
)

// unpacker reads a part in a goroutine of its own, a little ahead: unpacking
// takes about as long as understanding what was unpacked. It is read by one
// goroutine; Close ends both, and closes the part.
type unpacker struct {
	part   io.ReadCloser
	full   chan block
	free   chan []byte
	stop   chan struct{}
	ended  sync.WaitGroup
	block  block  // being read
	unread []byte // of block
}

// block is what was unpacked, and the error that came with it.
type block struct {
	bytes []byte
	err   error
}

func unpackAhead(part io.ReadCloser) *unpacker {
	u := &unpacker{part: part, full: make(chan block, aheadBlocks), free: make(chan []byte, aheadBlocks), stop: make(chan struct{})}
	for range aheadBlocks {
		u.free <- make([]byte, aheadBytes)
	}
	u.ended.Go(u.work)
	return u
}

// work fills blocks until the part ends or nobody wants more.
func (u *unpacker) work() {
	for {
		select {
		case <-u.stop:
			return
		case space := <-u.free:
			n, err := fill(u.part, space)
			u.full <- block{space[:n], err} // has room for every block
			if err != nil {
				return
			}
		}
	}
}

// fill reads until space is full or an error comes.
func fill(r io.Reader, space []byte) (n int, err error) {
	for n < len(space) && err == nil {
		var more int
		more, err = r.Read(space[n:])
		n += more
	}
	return n, err
}

// Read gives what is unpacked, and after it the error with which that ended.
func (u *unpacker) Read(b []byte) (int, error) {
	for len(u.unread) == 0 {
		if u.block.err != nil {
			return 0, u.block.err
		}
		if space := u.block.bytes; space != nil {
			u.free <- space[:aheadBytes]
		}
		u.block = <-u.full
		u.unread = u.block.bytes
	}
	n := copy(b, u.unread)
	u.unread = u.unread[n:]
	return n, nil
}

// Close ends the unpacking.
func (u *unpacker) Close() error {
	close(u.stop)
	u.ended.Wait()
	return u.part.Close()
}
