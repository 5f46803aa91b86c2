package ledger

import (
	"encoding/binary"
	"hash/crc32"
)

// sum is the CRC-32C of a row, taken field by field. Every field counts with
// its length, so that no two rows run together to the same bytes. It is there
// for disks that forget, not against people who forge.
type sum uint32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *sum) number(n int64) {
	*s = sum(crc32.Update(uint32(*s), castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(n))))
}

func (s *sum) bytes(b []byte) {
	s.number(int64(len(b)))
	*s = sum(crc32.Update(uint32(*s), castagnoli, b))
}

func (s *sum) text(t string) { s.bytes([]byte(t)) }

// sumOfEvent is the sum of the event with a number, of the step with a number.
func sumOfEvent(number, step int64, e Event) sum {
	var s sum
	s.number(number)
	s.number(step)
	s.text(string(e.To))
	s.number(e.At.UnixMicro())
	s.text(e.Boot)
	s.number(e.Uptime.Microseconds())
	s.text(e.Run)
	s.text(e.Via)
	s.number(int64(e.Status))
	s.text(e.Reason)
	s.bytes(e.Data)
	s.text(e.Digest)
	s.bytes(e.Answer)
	s.text(e.ID)
	s.text(e.URL)
	return s
}

// sumOfStep is the sum of a step's current state, its names included.
func sumOfStep(id StepID, c current) sum {
	var s sum
	for _, name := range []string{id.Environment, id.Space, id.Client, id.Mapping, id.Step} {
		s.text(name)
	}
	s.text(c.kind)
	s.text(string(c.state))
	s.number(int64(c.attempts))
	s.number(c.last)
	s.number(c.asked)
	s.number(c.answered)
	s.text(c.created)
	s.text(c.url)
	return s
}
