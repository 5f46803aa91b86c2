package wal_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"claimsheet/importer/ledger/wal"
)

const page = 512

// log writes a log with one frame for each element; true ends a commit.
func log(commits ...bool) []byte {
	order := binary.BigEndian
	var s [2]uint32
	sum := func(b []byte) {
		for i := 0; i < len(b); i += 8 {
			s[0] += order.Uint32(b[i:]) + s[1]
			s[1] += order.Uint32(b[i+4:]) + s[0]
		}
	}
	header := make([]byte, 24)
	for i, word := range []uint32{0x377f0683, 3007000, page, 1, 7, 9} {
		order.PutUint32(header[4*i:], word)
	}
	sum(header)
	all := order.AppendUint32(order.AppendUint32(header, s[0]), s[1])
	for i, ends := range commits {
		frame := order.AppendUint32(nil, uint32(i+1))
		if ends {
			frame = order.AppendUint32(frame, uint32(len(commits)))
		} else {
			frame = order.AppendUint32(frame, 0)
		}
		data := bytes.Repeat([]byte{byte(i + 1)}, page)
		sum(frame)
		sum(data)
		frame = append(order.AppendUint32(order.AppendUint32(frame, 7), 9), order.AppendUint32(order.AppendUint32(nil, s[0]), s[1])...)
		all = append(append(all, frame...), data...)
	}
	return all
}

// TestLostCommits: damage is lost commits when a commit ends behind it and another
// frame follows. At the end of a log it looks like a power loss.
func TestLostCommits(t *testing.T) {
	frame := func(i int) int { return wal.HeaderSize + i*(24+page) }
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 1; return b }
	}
	same := func(b []byte) []byte { return b }
	four := []bool{true, false, true, true}
	tests := []struct {
		name    string
		commits []bool
		change  func([]byte) []byte
		want    bool
	}{
		{"no log", nil, func([]byte) []byte { return nil }, false},
		{"a header", nil, same, false},
		{"whole commits", four, same, false},
		{"a commit that never ended", []bool{true, false, false}, same, false},
		{"the first frame's data", four, flip(frame(0) + 24), true},
		{"the first frame's sum", four, flip(frame(0) + 16), true},
		{"the first frame's salt", four, flip(frame(0) + 8), true},
		{"the second commit", four, flip(frame(1) + 24), true},
		{"the last commit", four, flip(frame(3) + 24), false},
		{"a commit of one frame, before another", []bool{true, true, true}, flip(frame(1) + 24), true},
		{"cut in the last frame", four, func(b []byte) []byte { return b[:len(b)-1] }, false},
		{"cut in the second frame", four, func(b []byte) []byte { return b[:frame(1)+30] }, false},
		{"the header", four, flip(3), true},
		{"the header of a log without frames", nil, flip(3), false},
		{"a page size that no log has", four, flip(8), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			lost, err := wal.LostCommits(bytes.NewReader(test.change(slices.Clone(log(test.commits...)))))
			if lost != test.want || err != nil {
				t.Errorf("lost %v, %v; want %v", lost, err, test.want)
			}
		})
	}
}
