package xlsx

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/flate"
)

// archive is the workbook's zip file. A part is compressed in another goroutine while
// it is made; one part at a time.
type archive struct {
	zip    *zip.Writer
	done   map[string]bool // the parts that it has
	last   io.Writer       // of the part that put added last, for more of it
	buffer []byte          // what is being compressed
}

// deflateLevel is the fastest: level 6 makes a sheet a fifth smaller in five times
// the time.
const deflateLevel = flate.BestSpeed

func newArchive(dst io.Writer) *archive {
	z := zip.NewWriter(dst)
	var packer *flate.Writer // it is large, and only one part is open at a time
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

// put adds a part.
func (a *archive) put(name string, content []byte) error {
	a.done[name] = true
	w, err := a.zip.Create(name)
	if err == nil {
		a.last = w
		_, err = w.Write(content)
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
		_ = from.CloseWithError(err) // for later writes; it never fails itself
		p.packed <- err
	}()
	return p, nil
}

// partBuffer is how much of a part is made while the piece before it is compressed.
const partBuffer = 256 << 10

// part is a part of the archive under construction.
type part struct {
	to     *io.PipeWriter
	packed chan error
	closed bool
}

func (p *part) Write(b []byte) (int, error) { return p.to.Write(b) }

// close ends the part and waits until all of it is in the archive. Only the first
// call has an effect.
func (p *part) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	_ = p.to.Close() // it never fails
	return <-p.packed
}

// parts collects the parts that excelize writes, in memory: the long ones, the
// sheets, are not written by excelize.
type parts struct {
	names   []string // in excelize's order
	content map[string]*bytes.Buffer
}

// Create begins the next part.
func (p *parts) Create(name string) (io.Writer, error) {
	p.names = append(p.names, name)
	p.content[name] = new(bytes.Buffer)
	return p.content[name], nil
}

// AddFS is required by excelize's interface and never called.
func (p *parts) AddFS(fs.FS) error { return fs.ErrInvalid }

// Close is required by excelize's interface.
func (p *parts) Close() error { return nil }

// readBack reads all parts of a workbook, compares their checksums, and returns the
// number of rows in each.
func readBack(file io.ReaderAt, size int64) (map[string]int, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, fmt.Errorf("reading it back: %w", err)
	}
	rows := map[string]int{}
	buffer := make([]byte, partBuffer)
	for _, f := range archive.File {
		if rows[f.Name], err = countRows(f, buffer); err != nil {
			return nil, fmt.Errorf("reading its part %s back: %w", f.Name, err)
		}
	}
	return rows, nil
}

var beginRow = []byte(`<row `)

// countRows reads a part to its end, where its checksum is compared, and counts the
// rows in it. Text has every < escaped.
func countRows(f *zip.File, buffer []byte) (rows int, err error) {
	part, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer part.Close()
	kept := 0 // bytes at the beginning of buffer that may begin a row
	for {
		n, err := part.Read(buffer[kept:])
		piece := buffer[:kept+n]
		rows += bytes.Count(piece, beginRow)
		kept = min(len(piece), len(beginRow)-1)
		copy(buffer, piece[len(piece)-kept:])
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
