package spool

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"claimsheet/importer/result"
)

// Results holds results of one sheet: those of a dry run, or those that a run need not read from the ledger again. They are added in any
// order, by any number of goroutines, and read when all are added. Each entry of the file is a list of texts.
type Results struct {
	mu      sync.Mutex // held by Add
	file    *spoolFile
	rows    []spooledRow
	clients []int64 // by client number - 1: the place of the client's steps; -1 for none
	texts   []string
	encoded []byte
}

// spooledRow is a source row and the place of its result.
type spooledRow struct {
	row    int32
	client int32
	at     int64
}

// NewResults returns empty results with a file in folder. Call Close at the end of the run.
func NewResults(folder string) (*Results, error) {
	file, err := newSpoolFile(folder)
	if err != nil {
		return nil, err
	}
	return &Results{file: file}, nil
}

// Close removes the file.
func (d *Results) Close() error { return d.file.close() }

// Add adds the results of a client's rows in this sheet, and the client's lines in the sheet Steps. The client has a number from 1 and a
// key; rows without a client have the number 0, and no steps. Number, Client and ClientKey of the steps do not count.
func (d *Results) Add(client int, key string, rows []result.Row, steps []result.Step) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range rows {
		d.texts = append(d.texts[:0], string(r.Status), r.ClientID, r.URL, r.FailedStep, r.Error, r.Advice, strconv.Itoa(len(r.ClaimIDs)))
		d.texts = append(append(d.texts, r.ClaimIDs...), r.Contacts...)
		at, err := d.put()
		if err != nil {
			return err
		}
		d.rows = append(d.rows, spooledRow{int32(r.Row), int32(client), at})
	}
	if client == 0 || len(steps) == 0 {
		return nil
	}
	for len(d.clients) < client {
		d.clients = append(d.clients, -1)
	}
	d.texts = append(d.texts[:0], key)
	for _, s := range steps {
		at := int64(0)
		if !s.At.IsZero() {
			at = s.At.UnixMicro()
		}
		d.texts = append(d.texts, s.Step, s.Kind, s.Title, s.State, s.ID, strconv.Itoa(s.Attempts), strconv.Itoa(s.Status), strconv.FormatInt(at, 36))
	}
	at, err := d.put()
	d.clients[client-1] = at
	return err
}

// put adds the texts to the file.
func (d *Results) put() (at int64, err error) {
	d.encoded = d.encoded[:0]
	for _, text := range d.texts {
		d.encoded = appendText(d.encoded, text)
	}
	return d.file.add(d.encoded)
}

// Rows are the results of the rows, in the order of the sheet. An error ends them.
func (d *Results) Rows() iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		slices.SortFunc(d.rows, func(a, b spooledRow) int { return cmp.Compare(a.row, b.row) })
		read := d.reader()
		for _, r := range d.rows {
			t, err := read(r.at)
			if err != nil {
				yield(result.Row{}, err)
				return
			}
			claims, _ := strconv.Atoi(t[6])
			row := result.Row{Row: int(r.row), Client: int(r.client), Status: result.Status(t[0]), ClientID: t[1], URL: t[2], FailedStep: t[3], Error: t[4],
				Advice: t[5], ClaimIDs: slices.Clone(t[7:][:claims]), Contacts: slices.Clone(t[7+claims:])}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Steps are the steps by client and in the order in which they were added, with
// numbers from 1; times are in UTC, to the microsecond. An error ends them.
func (d *Results) Steps() iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		read, number := d.reader(), 0
		for i, at := range d.clients {
			if at < 0 {
				continue
			}
			texts, err := read(at)
			if err != nil {
				yield(result.Step{}, err)
				return
			}
			for t := range slices.Chunk(texts[1:], 8) {
				number++
				s := result.Step{Number: number, Client: i + 1, ClientKey: texts[0], Step: t[0], Kind: t[1], Title: t[2], State: t[3], ID: t[4]}
				s.Attempts, _ = strconv.Atoi(t[5])
				s.Status, _ = strconv.Atoi(t[6])
				if at, _ := strconv.ParseInt(t[7], 36, 64); at != 0 {
					s.At = time.UnixMicro(at).UTC()
				}
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// reader returns a function that reads the texts at a place, valid until its next call.
func (d *Results) reader() func(at int64) ([]string, error) {
	if err := d.file.flush(); err != nil {
		return func(int64) ([]string, error) { return nil, err }
	}
	from := d.file.reader(bufferSize)
	var texts []string
	return func(at int64) ([]string, error) {
		if err := from.seek(at); err != nil {
			return nil, err
		}
		e, err := from.next()
		if err != nil {
			return nil, err
		}
		for texts = texts[:0]; len(e.bytes) > 0 && !e.failed; {
			texts = append(texts, e.text())
		}
		if e.failed {
			return nil, errors.New("a result that was kept during the run cannot be read back")
		}
		return texts, nil
	}
}
