package spool

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"claimsheet/importer/result"
)

// Results holds results of one sheet: those of a dry run, or those that a run need
// not read from the ledger again. They are added in any order, by any number of
// goroutines, and read when all are added.
type Results struct {
	mu      sync.Mutex // held by Add
	file    *spoolFile
	rows    []spooledRow
	clients []int64 // by client number - 1: the place of the client's steps; -1 for none
	entry   []byte
	number  []byte
}

// spooledRow is a source row and the place of its result.
type spooledRow struct {
	row    int32
	client int32
	at     int64
}

// NewResults returns empty results with a file in folder. Call Close at the end
// of the run.
func NewResults(folder string) (*Results, error) {
	file, err := newSpoolFile(folder)
	if err != nil {
		return nil, err
	}
	return &Results{file: file}, nil
}

// Close removes the file.
func (d *Results) Close() error { return d.file.close() }

// Add adds the results of a client's rows in this sheet, and the client's lines in
// the sheet Steps. The client has a number from 1 and a key; rows without a
// client have the number 0, and no steps. Number, Client and ClientKey of the steps
// do not count.
func (d *Results) Add(client int, key string, rows []result.Row, steps []result.Step) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range rows {
		b := d.entry[:0]
		for _, s := range []string{string(r.Status), r.ClientID, r.URL, r.FailedStep, r.Error, r.Advice, strconv.Itoa(len(r.ClaimIDs))} {
			b = appendText(b, s)
		}
		for _, s := range slices.Concat(r.ClaimIDs, r.Contacts) {
			b = appendText(b, s)
		}
		d.entry = b
		at, err := d.file.add(b)
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
	b := appendText(d.entry[:0], key)
	for _, s := range steps {
		for _, text := range []string{s.Step, s.Kind, s.Title, s.State, s.ID} {
			b = appendText(b, text)
		}
		at := int64(0)
		if !s.At.IsZero() {
			at = s.At.UnixMicro()
		}
		for _, n := range []int64{int64(s.Attempts), int64(s.Status), at} {
			d.number = strconv.AppendInt(d.number[:0], n, 36)
			b = append(binary.AppendUvarint(b, uint64(len(d.number))), d.number...)
		}
	}
	d.entry = b
	at, err := d.file.add(b)
	d.clients[client-1] = at
	return err
}

// Rows are the results of the rows, in the order of the sheet. An error ends
// them.
func (d *Results) Rows() iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		if err := d.file.flush(); err != nil {
			yield(result.Row{}, err)
			return
		}
		slices.SortFunc(d.rows, func(a, b spooledRow) int { return cmp.Compare(a.row, b.row) })
		from := d.file.reader(bufferSize)
		var texts []string
		for _, r := range d.rows {
			var err error
			texts, err = readTexts(from, r.at, texts[:0])
			var row result.Row
			if err == nil {
				row, err = rowFrom(texts)
			}
			row.Row, row.Client = int(r.row), int(r.client)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// rowFrom makes a result from its texts.
func rowFrom(texts []string) (result.Row, error) {
	const fixed = 7 // the last of them is the number of claims
	if len(texts) < fixed {
		return result.Row{}, errDamagedResult
	}
	claims, err := strconv.Atoi(texts[fixed-1])
	if err != nil || claims < 0 || claims > len(texts)-fixed {
		return result.Row{}, errDamagedResult
	}
	return result.Row{Status: result.Status(texts[0]), ClientID: texts[1], URL: texts[2], FailedStep: texts[3], Error: texts[4], Advice: texts[5],
		ClaimIDs: slices.Clone(texts[fixed:][:claims]), Contacts: slices.Clone(texts[fixed+claims:])}, nil
}

// Steps are the steps by client and in the order in which they were added, with
// numbers from 1; times are in UTC, to the microsecond. An error ends them.
func (d *Results) Steps() iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		if err := d.file.flush(); err != nil {
			yield(result.Step{}, err)
			return
		}
		from, number := d.file.reader(bufferSize), 0
		var texts []string
		for i, at := range d.clients {
			if at < 0 {
				continue
			}
			var err error
			texts, err = readTexts(from, at, texts[:0])
			if err == nil && len(texts)%textsOfStep != 1 {
				err = errDamagedResult
			}
			if err != nil {
				yield(result.Step{}, err)
				return
			}
			for step := range slices.Chunk(texts[1:], textsOfStep) {
				number++
				s, err := stepOf(step)
				s.Number, s.Client, s.ClientKey = number, i+1, texts[0]
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

// textsOfStep is how many texts an entry has for each step.
const textsOfStep = 8

// stepOf reads a step from its texts.
func stepOf(texts []string) (result.Step, error) {
	var numbers [3]int64
	var errs [3]error
	for i, text := range texts[5:] {
		numbers[i], errs[i] = strconv.ParseInt(text, 36, 64)
	}
	s := result.Step{Step: texts[0], Kind: texts[1], Title: texts[2], State: texts[3], ID: texts[4], Attempts: int(numbers[0]), Status: int(numbers[1])}
	if numbers[2] != 0 {
		s.At = time.UnixMicro(numbers[2]).UTC()
	}
	if errors.Join(errs[:]...) != nil {
		return s, errDamagedResult
	}
	return s, nil
}

var errDamagedResult = errors.New("a result that was kept during the run cannot be read back")

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// readTexts appends the texts of the entry at a place to a list.
func readTexts(from *fileReader, at int64, texts []string) ([]string, error) {
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
			return nil, errDamagedResult
		}
		texts = append(texts, all[i:i+int(n)])
		i += int(n)
	}
	return texts, nil
}
