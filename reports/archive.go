package reports

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"io/fs"
)

// archive is the workbook's zip file. Parts of any size are compressed while
// they are made, beside the one who makes them; one at a time.
type archive struct {
	zip    *zip.Writer
	done   map[string]bool // the parts that it has
	buffer []byte          // what is being compressed
}

// deflateLevel is the quickest: level 6 makes a sheet a fifth smaller in five
// times the time.
const deflateLevel = flate.BestSpeed

func newArchive(dst io.Writer) *archive {
	z := zip.NewWriter(dst)
	var packer *flate.Writer // it is large, and no two parts are open at a time
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (_ io.WriteCloser, err error) {
		if packer == nil {
			packer, err = flate.NewWriter(w, deflateLevel)
			return packer, err
		}
		packer.Reset(w)
		return packer, nil
	})
	return &archive{zip: z, done: map[string]bool{}, buffer: make([]byte, partBuffer)}
}

// put adds a part that is whole already.
func (a *archive) put(name string, pieces ...[]byte) error {
	a.done[name] = true
	w, err := a.zip.Create(name)
	for _, piece := range pieces {
		if err == nil {
			_, err = w.Write(piece)
		}
	}
	return err
}

// begin starts a part. It must be closed before the next one begins.
func (a *archive) begin(name string) (*part, error) {
	a.done[name] = true
	w, err := a.zip.Create(name)
	if err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	p := &part{to: to, packed: make(chan error, 1)}
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, from, a.buffer)
		_ = from.CloseWithError(err) // what is written from now on; never an error itself
		p.packed <- err
	}()
	return p, nil
}

// partBuffer is how much of a part is made while the piece before it is being
// compressed.
const partBuffer = 256 << 10

// part is a part of the archive under construction.
type part struct {
	to     *io.PipeWriter
	packed chan error
	closed bool
}

func (p *part) Write(b []byte) (int, error) { return p.to.Write(b) }

// close ends the part and waits until all of it is in the archive. The first
// call counts.
func (p *part) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	_ = p.to.Close() // never an error
	return <-p.packed
}

// parts is where excelize writes a workbook's parts to: into memory, because
// those that are long are not among them.
type parts struct {
	names   []string // in excelize's order
	content map[string]*bytes.Buffer
}

func newParts() *parts { return &parts{content: map[string]*bytes.Buffer{}} }

// Create begins the next part.
func (p *parts) Create(name string) (io.Writer, error) {
	p.names = append(p.names, name)
	p.content[name] = new(bytes.Buffer)
	return p.content[name], nil
}

// AddFS is asked for by excelize's interface and never called.
func (p *parts) AddFS(fs.FS) error { return fs.ErrInvalid }

// Close is asked for by excelize's interface.
func (p *parts) Close() error { return nil }
