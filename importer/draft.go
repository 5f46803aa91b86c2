package importer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"claimsheet/importer/result"
)

// Draft is where a dry run's results of one sheet go: the ledger is not touched, and
// nothing of a draft outlives the run. It holds a few bytes for each row and
// client; the rest is in a private file. Results are added by one goroutine
// and read when all are there.
type Draft struct {
	spill   *spill
	rows    []draftRow
	clients []int64 // where the calls of each client are, by number - 1; -1 for none
	entry   []byte
}

// draftRow is a source row and where its result is.
type draftRow struct {
	row    int32
	client int32 // its number
	at     int64
}

// NewDraft makes an empty draft with a file in folder. Close it when the run is
// over.
func NewDraft(folder string) (*Draft, error) {
	s, err := newSpill(folder)
	if err != nil {
		return nil, err
	}
	return &Draft{spill: s}, nil
}

// Close gives the file back.
func (d *Draft) Close() error { return d.spill.close() }

// add takes a client's outcome: its rows in one of the sheets, and the calls
// that a run would make.
func (d *Draft) add(o Outcome, table int) error {
	for _, r := range o.Rows {
		if r.Table != table {
			continue
		}
		at, err := d.spill.add(d.encodeRow(r))
		if err != nil {
			return err
		}
		d.rows = append(d.rows, draftRow{int32(r.Row), int32(o.Number), at})
	}
	if o.Number == 0 {
		return nil
	}
	for len(d.clients) < o.Number {
		d.clients = append(d.clients, -1)
	}
	b := appendText(d.entry[:0], o.Client.Key)
	calls := 0
	for _, s := range o.Steps {
		if s.Status == result.Planned {
			b = appendText(appendText(appendText(b, s.Step.Key), string(s.Step.Kind)), s.Step.Title)
			calls++
		}
	}
	d.entry = b
	if calls == 0 {
		return nil
	}
	at, err := d.spill.add(b)
	d.clients[o.Number-1] = at
	return err
}

func (d *Draft) encodeRow(r result.Row) []byte {
	b := d.entry[:0]
	for _, s := range []string{string(r.Status), r.ClientID, r.URL, r.FailedStep, r.Error, r.Advice} {
		b = appendText(b, s)
	}
	for _, id := range r.ClaimIDs {
		b = appendText(b, id)
	}
	d.entry = b
	return b
}

// Rows are the results by source row, ascending.
func (d *Draft) Rows() iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		if err := d.spill.flush(); err != nil {
			yield(result.Row{}, err)
			return
		}
		slices.SortFunc(d.rows, func(a, b draftRow) int { return cmp.Compare(a.row, b.row) })
		from := d.spill.reader(spillBuffer)
		var texts []string
		for _, r := range d.rows {
			var err error
			texts, err = readTexts(from, r.at, texts[:0])
			if err == nil && len(texts) < 6 {
				err = errDamagedDraft
			}
			if err != nil {
				yield(result.Row{}, err)
				return
			}
			result := result.Row{Row: int(r.row), Client: int(r.client), Status: result.Status(texts[0]), ClientID: texts[1], URL: texts[2],
				FailedStep: texts[3], Error: texts[4], Advice: texts[5], ClaimIDs: slices.Clone(texts[6:])}
			if !yield(result, nil) {
				return
			}
		}
	}
}

// Steps are the calls that a run would make, by client and in the order in
// which it would make them.
func (d *Draft) Steps() iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		if err := d.spill.flush(); err != nil {
			yield(result.Step{}, err)
			return
		}
		from, number := d.spill.reader(spillBuffer), 0
		var texts []string
		for i, at := range d.clients {
			if at < 0 {
				continue
			}
			var err error
			texts, err = readTexts(from, at, texts[:0])
			if err == nil && len(texts)%3 != 1 {
				err = errDamagedDraft
			}
			if err != nil {
				yield(result.Step{}, err)
				return
			}
			for step := range slices.Chunk(texts[1:], 3) {
				number++
				if !yield(result.Step{Number: number, Client: i + 1, ClientKey: texts[0], Step: step[0], Kind: step[1], Title: step[2],
					State: string(result.Planned)}, nil) {
					return
				}
			}
		}
	}
}

var errDamagedDraft = errors.New("a result that was kept during the dry run cannot be read back")

// appendText appends a text with its length before it.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// readTexts appends the texts of an entry to a list.
func readTexts(from *spillReader, at int64, texts []string) ([]string, error) {
	if err := from.seek(at); err != nil {
		return nil, err
	}
	entry, err := from.next()
	if err != nil {
		return nil, err
	}
	all, i := string(entry), 0
	for i < len(entry) {
		n, size := binary.Uvarint(entry[i:])
		if i += size; size <= 0 || n > uint64(len(entry)-i) {
			return nil, errDamagedDraft
		}
		texts = append(texts, all[i:i+int(n)])
		i += int(n)
	}
	return texts, nil
}
