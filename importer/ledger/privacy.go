package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A tombstone replaces the key of a client who was erased. It holds the time, and a
// keyed hash of the client, so that a sheet with the same client is recognised and
// nothing is created again. They begin with a space, which no client key does,
// because keys are trimmed. The secret of the hashes is a setting of the ledger.
//
// The hash hides the key from those who read the ledger, not from those who guess
// it.
const (
	tombstonePrefix = " erased "
	tombstoneEnd    = " erased!" // no text is between the two that does not begin with the prefix
	settingSecret   = "secret of erasures"
)

func tombstone(at time.Time, hash string) string {
	return tombstonePrefix + at.UTC().Format(time.RFC3339) + " " + hash
}

func readTombstone(client string) (at time.Time, hash string, ok bool) {
	text, ok := strings.CutPrefix(client, tombstonePrefix)
	erased, hash, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339, erased)
	return at, hash, ok && err == nil
}

// hashed is a keyed hash of texts, in hex.
func hashed(secret string, texts ...string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(mac.Sum(nil))
}

func hashOf(secret string, o ClientKey) string {
	return hashed(secret, o.Environment, o.Space, o.Client)
}

// Erasures recognises the erased clients of an environment by their keys. The zero
// Erasures recognises none.
type Erasures struct {
	secret string
	byHash map[string]ClientKey // what the ledger has instead of their keys
}

// Erasures returns the erased clients of an environment.
func (l *Ledger) Erasures(ctx context.Context, environment string) (Erasures, error) {
	owners, err1 := collect(ctx, l.read, scanClientKey, selectClients+`AND c.client >= ? AND c.client < ?`,
		environment, tombstonePrefix, tombstoneEnd)
	secret, _, err2 := l.setting(ctx, "", settingSecret) // it was there before the first of them
	e := Erasures{secret, map[string]ClientKey{}}
	for _, o := range owners {
		if _, hash, ok := readTombstone(o.Client); ok {
			e.byHash[hash] = o
		}
	}
	return e, errors.Join(err1, err2)
}

// Find reports whether a client was erased, and when. stone is the key under which
// the ledger has what is left of the client.
func (e Erasures) Find(o ClientKey) (stone ClientKey, at time.Time, ok bool) {
	if len(e.byHash) == 0 {
		return stone, at, false
	}
	if stone, ok = e.byHash[hashOf(e.secret, o)]; ok {
		at, _ = Erased(stone.Client)
	}
	return stone, at, ok
}

// Erased reports whether a client key is that of an erased client, and when the
// client was erased.
func Erased(client string) (at time.Time, ok bool) {
	at, _, ok = readTombstone(client)
	return at, ok
}

// ErrUncertain is returned by Forget for a client with a step that is
// uncertain: it must be decided first, because afterwards it cannot be looked for.
var ErrUncertain = errors.New("a step of the client is uncertain")

// Forget erases a client: it replaces the key by a keyed hash, which Erasures
// recognises, replaces the names of the steps by hashes, and removes everything else
// but kinds, states, ids and times. It takes the copies of sheets from all runs of the client's
// environment, and the Words of all steps: the client may be in any of them. at is the time of the
// erasure. When it returns, the ledger's files hold nothing of the client; the caller removes the
// copies. n is how many steps the client had.
func (l *Ledger) Forget(owner ClientKey, at time.Time) (n int, err error) {
	err = l.submit(func(t *transaction) error {
		n, err = t.forgetClient(owner, at)
		return err
	})
	if err == nil {
		err = l.compact()
	}
	return n, err
}

func (t *transaction) forgetClient(owner ClientKey, at time.Time) (n int, err error) {
	client, ok, err := t.findClient(owner)
	if err == nil && !ok {
		err = reject(errors.New("there is no such client in the ledger"))
	}
	if err != nil {
		return 0, err
	}
	steps, err := collect(context.Background(), t.database, scanRow, selectSteps+`WHERE s.client = ?`, client)
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(steps, func(r row) bool { return r.State == Sent || r.State == Uncertain }) {
		return 0, reject(ErrUncertain)
	}
	secret, err := t.secret()
	if err = errors.Join(err, t.overwrite()); err != nil {
		return 0, err
	}
	t.wrote = true
	for _, r := range steps {
		name := r.StepID.Step
		if name != KindClient && name != KindLink {
			name = " erased " + hashed(secret, r.Environment, r.Space, r.Client, r.Mapping, name)[:32]
		}
		_, err1 := t.exec(`UPDATE steps SET step = ?, request = NULL, digest = NULL, answer = NULL, url = '' WHERE id = ?`, name, r.id)
		_, err2 := t.exec(`UPDATE history SET request = NULL, digest = NULL, answer = NULL, url = '' WHERE step = ?`, r.id)
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
	}
	_, err1 := t.exec(`UPDATE clients SET client = ? WHERE id = ?`, tombstone(at, hashOf(secret, owner)), client)
	_, err2 := t.exec(`DELETE FROM addresses WHERE client = ?`, client)
	_, err3 := t.exec(`UPDATE runs SET kept_input = '' WHERE environment = ?`, owner.Environment)
	_, err4 := t.exec(`UPDATE steps SET answer = NULL WHERE substr(answer, 1, 1) = ?`, []byte(wordsHead))
	_, err5 := t.exec(`UPDATE history SET answer = NULL WHERE substr(answer, 1, 1) = ?`, []byte(wordsHead))
	t.forget()
	return len(steps), errors.Join(err1, err2, err3, err4, err5, t.forgetTracked(client))
}

// secret returns the secret of the ledger's tombstones, and makes it for the first.
func (t *transaction) secret() (secret string, err error) {
	_, err = first(context.Background(), t.database, []any{&secret}, `INSERT INTO settings (environment, name, value) VALUES ('', ?, ?)
		ON CONFLICT (environment, name) DO UPDATE SET name = excluded.name RETURNING value`, settingSecret, rand.Text())
	return secret, err
}

// Purge removes personal data that is older than before from the ledger: the data of requests, whole
// answers, redirect urls, and the names of kept inputs, whose files the caller removes, of the steps and
// runs of some environments; and the events of a service (AddTracked) with ids that the ledger does not
// know. Client keys, step names, states, ids and digests stay, so that nothing is
// created again. It removes everything or nothing; when it returns, the ledger's files
// hold none of it.
//
// steps is how many steps lost their data, counted once for each state that had some. unsettled is how many
// kept older data because they are uncertain: their answers may hold the only trace of an id.
func (l *Ledger) Purge(environments []string, service string, before time.Time) (steps, unsettled int, err error) {
	err = l.submit(func(t *transaction) error {
		steps, unsettled = 0, 0
		if err := t.overwrite(); err != nil {
			return err
		}
		t.wrote = true
		for _, environment := range environments {
			n, kept, err := t.purgeSteps(environment, before.UnixMicro())
			if err == nil {
				_, err = t.exec(`UPDATE runs SET kept_input = '' WHERE environment = ? AND started < ?`, environment, before.UnixMicro())
			}
			if err != nil {
				return err
			}
			steps, unsettled = steps+n, unsettled+kept
		}
		t.forget()
		_, err := t.exec(`DELETE FROM tracked WHERE client = 0 AND service = ? AND received < ?`, service, before.UnixMicro())
		return err
	})
	if err == nil {
		err = l.compact()
	}
	return steps, unsettled, err
}

// purgeSteps removes the bodies and urls of steps whose last state or last intent is older than
// before, and those of their older states. Its results are those of Purge.
func (t *transaction) purgeSteps(environment string, before int64) (n, unsettled int, err error) {
	const (
		remove = ` SET request = NULL, answer = NULL, url = '' WHERE `
		steps  = `environment = ` + numberOf +
			` AND (request IS NOT NULL OR answer IS NOT NULL OR url <> '') AND (at < ? OR sent > 0 AND sent_at < ?) AND state `
		past = `at < ? AND (request IS NOT NULL OR answer IS NOT NULL OR url <> '')
			AND EXISTS (SELECT 1 FROM steps s WHERE s.id = history.step AND s.environment = ` + numberOf + ` AND s.state NOT IN (1, 4))`
	)
	_, err1 := first(context.Background(), t.database, []any{&unsettled}, `SELECT count(*) FROM steps WHERE `+steps+`IN (1, 4)`, environment,
		before, before)
	now, err2 := t.exec(`UPDATE steps`+remove+steps+`NOT IN (1, 4)`, environment, before, before)
	older, err3 := t.exec(`UPDATE history`+remove+past, before, environment)
	return int(now + older), unsettled, errors.Join(err1, err2, err3)
}

// overwrite makes this connection overwrite with zeroes what it removes from a file.
func (t *transaction) overwrite() error {
	if t.server != nil {
		return nil // Server.Compact removes it
	}
	return t.plainly("PRAGMA secure_delete = ON")
}

// compact rewrites the ledger's file without its free pages, and empties the log, so
// that neither holds the removed bytes. Nothing else may write at the same time.
func (l *Ledger) compact() error {
	ctx := context.Background()
	if l.server != nil {
		return l.server.Compact(ctx)
	}
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
		return fmt.Errorf("the ledger's file could not be rewritten without the removed data: %w", err)
	}
	return nil
}
