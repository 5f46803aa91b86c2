package reports

// clientRows says which rows belong to a client, in twelve bytes for each: the
// first one, in the source and in the sheet Results, and how many there are.
type clientRows struct {
	// By the client's number - 1, in pieces: one long list would be copied, and
	// its old copies kept for a while, whenever it grows.
	pieces []*[clientPiece]clientRow
}

const clientPiece = 1 << 12

type clientRow struct{ row, line, count int32 }

// note takes a row in. A nil clientRows takes none; client 0 is nobody.
func (c *clientRows) note(client, row, line int) {
	if c == nil || client <= 0 {
		return
	}
	for len(c.pieces) <= (client-1)/clientPiece {
		c.pieces = append(c.pieces, new([clientPiece]clientRow))
	}
	r := &c.pieces[(client-1)/clientPiece][(client-1)%clientPiece]
	if r.count == 0 {
		r.row, r.line = int32(row), int32(line)
	}
	r.count++
}

// of is what is known of a client; without rows for nothing.
func (c *clientRows) of(client int) clientRow {
	if client <= 0 || (client-1)/clientPiece >= len(c.pieces) {
		return clientRow{}
	}
	return c.pieces[(client-1)/clientPiece][(client-1)%clientPiece]
}
