package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A tombstone stands in place of the key of a client who was erased: the day,
// the ledger's secret, and a keyed hash of who it was, so that a sheet that
// names the client again is recognised and nothing is made anew. All tombstones
// of a ledger share the secret. They begin with a space, which no client key
// does: keys are trimmed.
//
// The hash hides the key from those who read the ledger, not from somebody who
// guesses it and tries.
const tombstonePrefix = " erased "

type tombstone struct {
	at     time.Time
	secret []byte
	hash   string // hex
}

func (t tombstone) String() string {
	return tombstonePrefix + t.at.UTC().Format(time.RFC3339) + " " + hex.EncodeToString(t.secret) + " " + t.hash
}

func readTombstone(client string) (t tombstone, ok bool) {
	text, ok := strings.CutPrefix(client, tombstonePrefix)
	parts := strings.Split(text, " ")
	if !ok || len(parts) != 3 {
		return tombstone{}, false
	}
	at, err := time.Parse(time.RFC3339, parts[0])
	secret, err2 := hex.DecodeString(parts[1])
	return tombstone{at, secret, parts[2]}, errors.Join(err, err2) == nil && len(parts[2]) == 2*sha256.Size
}

// hashed is a keyed hash of texts, in hex.
func hashed(secret []byte, texts ...string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(mac.Sum(nil))
}

func hashOf(secret []byte, o ClientKey) string {
	return hashed(secret, o.Environment, o.Space, o.Client)
}

func newSecret() []byte {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // it never fails
	return secret
}

// Erasures are the clients of an environment who were erased, recognised by
// their keys. The zero Erasures are none.
type Erasures struct {
	secret []byte
	byHash map[string]tombstone
	stones map[string]ClientKey // as the ledger has them now
}

// Erasures are those of an environment.
func (l *Ledger) Erasures(ctx context.Context, environment string) (Erasures, error) {
	owners, err := gather(stream(ctx, l.read, scanOwner, `
		SELECT environment, space, client FROM owners WHERE environment = ? AND client >= ?2 AND client < ?2 || char(0x10FFFF)`,
		environment, tombstonePrefix))
	e := Erasures{byHash: map[string]tombstone{}, stones: map[string]ClientKey{}}
	for _, o := range owners {
		if t, ok := readTombstone(o.Client); ok {
			e.secret, e.byHash[t.hash], e.stones[t.hash] = t.secret, t, o
		}
	}
	return e, err
}

// Find tells whether a client was erased, and when. What is left of the client
// stands under stone.
func (e Erasures) Find(o ClientKey) (stone ClientKey, at time.Time, ok bool) {
	if len(e.byHash) == 0 {
		return ClientKey{}, time.Time{}, false
	}
	hash := hashOf(e.secret, o)
	t, ok := e.byHash[hash]
	return e.stones[hash], t.at, ok
}

// ErasedNamed are the clients of an environment who were erased and had the key, in
// whatever key space, as they stand in the ledger now.
func (l *Ledger) ErasedNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	e, err := l.Erasures(ctx, environment)
	if err != nil {
		return nil, err
	}
	var found []ClientKey
	for _, stone := range e.stones {
		for _, k := range []string{key, strings.ToLower(key)} {
			was := ClientKey{Environment: environment, Space: stone.Space, Client: k}
			if k != key && stone.Space != spaceEmail {
				continue
			}
			if is, _, ok := e.Find(was); ok && is == stone && !slices.Contains(found, stone) {
				found = append(found, stone)
			}
		}
	}
	return found, nil
}

// Erased tells whether a client's name is what stands for a client who was
// erased, and when that was.
func Erased(client string) (at time.Time, ok bool) {
	t, ok := readTombstone(client)
	return t.at, ok
}

// ErrUnsettled is returned by Forget for a client with a step that is uncertain
// or parked: whether it exists must be known before nobody can look for it any
// more.
var ErrUnsettled = errors.New("a step of the client is uncertain")

// Forgotten is what Forget has done.
type Forgotten struct {
	Steps int // that keep nothing but kind, state and id
	Rows  int // of runs
	// Runs are those whose inputs hold the client, or may: the client was in
	// them, they did not end, or they have rows whose client is not known. Their
	// Run is as it was before.
	Runs []Run
}

// Forget erases a client: the key is replaced by a keyed hash, which Erasures
// recognises, the names of the steps by hashes too, and everything else but
// kinds, states, ids and times is taken out. at is when. Nothing of the client
// is left in the ledger's files when it returns; the kept inputs of Runs are
// the caller's to remove. summary is as in Purge.
func (l *Ledger) Forget(owner ClientKey, at time.Time, summary func([]byte) []byte) (done Forgotten, err error) {
	if l.write == nil {
		return Forgotten{}, ErrReadOnly
	}
	err = l.write.submit(true, func(t *transaction) error {
		done = Forgotten{}
		return t.forget(owner, at, summary, &done)
	})
	if err == nil {
		err = l.compact()
	}
	return done, err
}

func (t *transaction) forget(owner ClientKey, at time.Time, summary func([]byte) []byte, done *Forgotten) error {
	if err := t.overwrite(); err != nil {
		return err
	}
	number, err := t.forgettable(owner)
	if err != nil {
		return err
	}
	secret, err := t.secret()
	if err != nil {
		return err
	}
	stone := owner
	stone.Client = tombstone{at, secret, hashOf(secret, owner)}.String()

	empty := func(e *Event) { e.Data, e.Digest, e.Answer, e.URL = nil, "", nil, "" }
	if _, err := t.changeEvents(empty, `s.owner = ?`, number); err != nil {
		return err
	}
	rename := func(id StepID) StepID {
		if id.Step != KindClient && id.Step != KindLink {
			id.Step = " erased " + hashed(secret, id.Environment, id.Space, id.Client, id.Mapping, id.Step)[:32]
		}
		id.ClientKey = stone
		return id
	}
	done.Steps, err = t.changeSteps(func(id StepID, c current) (StepID, current) { c.url = ""; return rename(id), c }, `s.owner = ?`, number)
	if err != nil {
		return err
	}
	if err := t.exec(`UPDATE owners SET client = ? WHERE id = ?`, stone.Client, number); err != nil {
		return err
	}
	return t.forgetRuns(owner, number, rename, summary, done)
}

// forgettable is the number of a client who can be erased.
func (t *transaction) forgettable(owner ClientKey) (number int64, err error) {
	ctx := context.Background()
	err = t.findOwner.QueryRowContext(ctx, owner.Environment, owner.Space, owner.Client).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, declined{errors.New("the ledger knows no such client")}
	}
	if err != nil {
		return 0, err
	}
	var open bool
	err = t.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM steps s WHERE owner = ? AND NOT `+settled+`)`, number).Scan(&open)
	if err == nil && open {
		err = declined{ErrUnsettled}
	}
	return number, err
}

// secret is that of the tombstones that there are, else a new one.
func (t *transaction) secret() ([]byte, error) {
	clients, err := gatherRows(t, scanText, `SELECT client FROM owners WHERE client >= ?1 AND client < ?1 || char(0x10FFFF)`, tombstonePrefix)
	for _, client := range clients {
		if stone, ok := readTombstone(client); ok {
			return stone.secret, err
		}
	}
	return newSecret(), err
}

// forgetRuns takes a client out of what runs have recorded.
func (t *transaction) forgetRuns(owner ClientKey, number int64, rename func(StepID) StepID, summary func([]byte) []byte, done *Forgotten) error {
	const holding = `finished IS NULL
		OR id IN (SELECT run FROM run_rows WHERE owner IS NULL OR owner = ?1)
		OR id IN (SELECT run FROM run_steps WHERE owner = ?1)`
	runs, err := gatherRows(t, scanRun, `SELECT `+runColumns+` FROM runs
		WHERE (`+holding+`) OR kept_input IN (SELECT kept_input FROM runs WHERE kept_input <> '' AND (`+holding+`))
		ORDER BY started, id`, number)
	if err != nil {
		return err
	}
	done.Runs = runs
	for _, r := range runs {
		if err := t.exec(`UPDATE runs SET kept_input = '', summary = ? WHERE id = ?`, blob(summary(r.Summary)), r.ID); err != nil {
			return err
		}
	}
	rows, err := t.changes(`UPDATE run_rows SET url = '', failed_step = '', error = '', advice = '' WHERE owner = ?`, number)
	if err != nil {
		return err
	}
	done.Rows = int(rows)
	type line struct {
		run    string
		number int64
		StepID
	}
	steps, err := gatherRows(t, func(rows *sql.Rows) (s line, err error) {
		s.ClientKey = owner
		return s, rows.Scan(&s.run, &s.number, &s.Mapping, &s.Step)
	}, `SELECT run, number, mapping, step FROM run_steps WHERE owner = ?`, number)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err := t.exec(`UPDATE run_steps SET step = ? WHERE run = ? AND number = ?`, rename(s.StepID).Step, s.run, s.number); err != nil {
			return err
		}
	}
	// Rows of others quote the key where the service has one client for both.
	quoted := "“" + owner.Client + "”"
	return t.exec(`UPDATE run_rows SET error = replace(error, ?1, '“erased”') WHERE instr(error, ?1) > 0`, quoted)
}

// Purge says what is to be taken out of the ledger.
type Purge struct {
	Environments []string
	Before       time.Time // what is older goes
	// Summary is what stays of the summary of a run that is older.
	Summary func(summary []byte) []byte
}

// Purged is what Purge has done.
type Purged struct {
	Runs   int // whose input and problems are no longer known
	Bodies int // requests' data and answers
	URLs   int // redirect urls of steps
	// Unsettled are steps that kept what is older, because they are uncertain or
	// parked: their answers may hold the only trace of an id.
	Unsettled int
}

// Purge takes the personal data that is older out of the ledger: the data of
// requests, whole answers, redirect urls, what was wrong with rows, and the
// names of kept inputs, whose files are the caller's to remove. Client keys, step
// names, states, ids and digests stay, so that nothing is created again. It is
// done whole or not at all, and when it returns nothing of it is left in the
// ledger's files.
func (l *Ledger) Purge(p Purge) (done Purged, err error) {
	if l.write == nil {
		return Purged{}, ErrReadOnly
	}
	err = l.write.submit(true, func(t *transaction) error {
		done = Purged{}
		return t.purge(p, &done)
	})
	if err == nil {
		err = l.compact()
	}
	return done, err
}

// settled leaves out the steps that an operator or a look-up must still decide.
const settled = `s.state NOT IN ('intent', 'uncertain', 'parked')`

func (t *transaction) purge(p Purge, done *Purged) error {
	if err := t.overwrite(); err != nil {
		return err
	}
	in, before := list(p.Environments), p.Before.UnixMicro()
	const old = `o.environment IN (SELECT value FROM json_each(?)) AND e.at < ? AND (e.data IS NOT NULL OR e.answer IS NOT NULL OR e.url <> '')`
	err := t.conn.QueryRowContext(context.Background(), `
		SELECT count(DISTINCT s.id) FROM events e JOIN steps s ON s.id = e.step JOIN owners o ON o.id = s.owner
		WHERE NOT `+settled+` AND `+old, in, before).Scan(&done.Unsettled)
	if err != nil {
		return err
	}
	bare := func(e *Event) { e.Data, e.Answer, e.URL = nil, nil, "" }
	if done.Bodies, err = t.changeEvents(bare, settled+` AND `+old, in, before); err != nil {
		return err
	}
	// A step shows the last url that an event brought.
	lost := func(id StepID, c current) (StepID, current) { c.url = ""; return id, c }
	if done.URLs, err = t.changeSteps(lost, settled+` AND s.url <> '' AND o.environment IN (SELECT value FROM json_each(?))
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.step = s.id AND e.url = s.url)`, in); err != nil {
		return err
	}
	done.Runs, err = t.stripRuns(p.Summary, `environment IN (SELECT value FROM json_each(?)) AND started < ?`, in, before)
	return err
}

// stripRuns takes what is personal out of the runs that a condition names: of
// their rows, their summaries and what leads to their inputs.
func (t *transaction) stripRuns(summary func([]byte) []byte, where string, args ...any) (int, error) {
	runs, err := gatherRows(t, scanRun, `SELECT `+runColumns+` FROM runs WHERE `+where, args...)
	if err != nil {
		return 0, err
	}
	stripped := 0
	for _, r := range runs {
		rows, err := t.changes(`UPDATE run_rows SET url = '', error = '' WHERE run = ? AND (url <> '' OR error <> '')`, r.ID)
		if err != nil {
			return 0, err
		}
		left := summary(r.Summary)
		if rows == 0 && r.KeptInput == "" && len(left) == len(r.Summary) {
			continue // by an earlier purge
		}
		stripped++
		if err := t.exec(`UPDATE runs SET kept_input = '', summary = ? WHERE id = ?`, blob(left), r.ID); err != nil {
			return 0, err
		}
	}
	return stripped, nil
}

// atOnce bounds what is held in memory of what is changed. The queries go
// through their table by number, which CROSS JOIN makes SQLite do: sorting for
// each batch would take a time that grows with the square of the ledger.
const atOnce = 1000

// numbered is an event with its number and its step's.
type numbered struct {
	number, step int64
	Event
}

// changeEvents changes the events that a condition names and takes their sums
// anew. It tells how many there were.
func (t *transaction) changeEvents(change func(*Event), where string, args ...any) (n int, err error) {
	for last := int64(0); ; {
		events, err := gatherRows(t, scanNumbered, `
			SELECT e.id, e.step, e.state, e.at, e.boot, e.uptime, e.run, e.via, e.status, e.reason, e.data, e.digest, e.answer, e.created, e.url
			FROM events e CROSS JOIN steps s ON s.id = e.step JOIN owners o ON o.id = s.owner
			WHERE e.id > `+fmt.Sprint(last)+` AND `+where+` ORDER BY e.id LIMIT `+fmt.Sprint(atOnce), args...)
		if err != nil || len(events) == 0 {
			return n, err
		}
		for _, e := range events {
			last = e.number
			change(&e.Event)
			if err := t.exec(`UPDATE events SET data = ?, digest = ?, answer = ?, url = ?, sum = ? WHERE id = ?`,
				blob(e.Data), e.Digest, blob(e.Answer), e.URL, int64(sumOfEvent(e.number, e.step, e.Event)), e.number); err != nil {
				return n, err
			}
			n++
		}
	}
}

func scanNumbered(rows *sql.Rows) (e numbered, err error) {
	err = rows.Scan(&e.number, &e.step, &e.To, (*moment)(&e.At), &e.Boot, (*span)(&e.Uptime), &e.Run, &e.Via, &e.Status, &e.Reason,
		&e.Data, &e.Digest, &e.Answer, &e.ID, &e.URL)
	return e, err
}

// named is a step of the table of steps with its names.
type named struct {
	StepID
	current
}

// changeSteps changes the steps that a condition names and takes their sums
// anew; only the step's name and its url are stored, the owner's name being stored
// once. It tells how many there were.
func (t *transaction) changeSteps(change func(StepID, current) (StepID, current), where string, args ...any) (n int, err error) {
	for last := int64(0); ; {
		steps, err := gatherRows(t, scanNamed, `
			SELECT o.environment, o.space, o.client, s.mapping, s.step, s.id, s.kind, s.state, s.attempts, s.last,
				coalesce(s.asked, 0), coalesce(s.answered, 0), s.created, s.url
			FROM steps s CROSS JOIN owners o ON o.id = s.owner
			WHERE s.id > `+fmt.Sprint(last)+` AND `+where+` ORDER BY s.id LIMIT `+fmt.Sprint(atOnce), args...)
		if err != nil || len(steps) == 0 {
			return n, err
		}
		for _, s := range steps {
			last = s.id
			id, c := change(s.StepID, s.current)
			if err := t.exec(`UPDATE steps SET step = ?, url = ?, sum = ? WHERE id = ?`,
				id.Step, c.url, int64(sumOfStep(id, c)), c.id); err != nil {
				return n, err
			}
			n++
		}
	}
}

func scanNamed(rows *sql.Rows) (s named, err error) {
	err = rows.Scan(&s.Environment, &s.Space, &s.Client, &s.Mapping, &s.Step, &s.id, &s.kind, &s.state, &s.attempts, &s.last,
		&s.asked, &s.answered, &s.created, &s.current.url)
	return s, err
}

// overwrite makes this connection write zeroes over what it takes out. It is
// for those that take personal data out; everything else is only ever added.
func (t *transaction) overwrite() error { return t.exec("PRAGMA secure_delete = ON") }

// compact writes the ledger's file anew without the room that was freed, and
// empties the log, so that the bytes of what was taken out are in neither.
// Nothing may be writing.
func (l *Ledger) compact() error {
	ctx := context.Background()
	c, err := l.write.db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "VACUUM")
	if err == nil {
		var busy, pages, moved int
		err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err == nil && busy != 0 {
			err = errors.New("another program is reading it")
		}
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("the ledger's file could not be written anew without what was taken out of it: %w", err)
	}
	return nil
}

// gatherRows is all that a query inside the transaction gives.
func gatherRows[T any](t *transaction, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := t.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
