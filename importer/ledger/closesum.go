package ledger

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"claimsheet/importer/safefile"
)

// A clean close writes the size of the ledger's file and a CRC-32C of all its bytes
// into a file beside it. Open reads the ledger once and compares: a bit that has
// changed in an index would hide a step, and then the step would be sent again. Where
// the two differ, or the sum is missing because the file was restored or its process
// was killed while it closed, the ledger is checked as a whole. So an old or missing
// sum costs time, never safety.

func sumFile(path string) string { return path + ".sum" }

// sumLength is the most bytes that a sum has as text: a size and a CRC.
const sumLength = 32

// fileSum is the text of the sum of the file at path. It is an error when the file is
// one of an open ledger.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buffer := make([]byte, 1<<20)
	sum, size := uint32(0), int64(0)
	for {
		n, err := io.ReadFull(f, buffer)
		if size == 0 && (n < headerSize || buffer[journalAt] == journalLog) {
			return "", errors.New("the ledger is open")
		}
		sum, size = crc32.Update(sum, castagnoli, buffer[:n]), size+int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Sprintf("%d %08x\n", size, sum), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// writeSum writes the sum of a ledger that was just closed. It writes nothing when
// the ledger could not be made a plain file. An error is ignored: without a sum the
// ledger is checked as a whole when it is opened again.
func writeSum(path string) {
	text, err := fileSum(path)
	if err != nil {
		return
	}
	f, err := openBeside(sumFile(path), safefile.LockFlags)
	if err != nil {
		return
	}
	if _, err := f.WriteAt([]byte(text), 0); err == nil {
		_ = f.Truncate(int64(len(text)))
		_ = f.Sync()
	}
	_ = f.Close()
}

// sumFits reports whether the closed ledger at path is, byte for byte, as the last
// close has left it.
func sumFits(path string) bool {
	f, err := openBeside(sumFile(path), safefile.LockFlags&^os.O_CREATE)
	if err != nil {
		return false
	}
	defer f.Close()
	was, err := io.ReadAll(io.LimitReader(f, sumLength))
	if err != nil || len(was) == 0 {
		return false
	}
	is, err := fileSum(path)
	return err == nil && is == string(was)
}
