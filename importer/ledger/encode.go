package ledger

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// stamp is a time as it is stored: microseconds since 1970, NULL for none.
func stamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// blob is bytes as they are stored, NULL for none.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// number is a row's number as it is stored, NULL for one that SQLite chooses.
func number(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// instant reads a stored time; NULL is the zero time.
type instant time.Time

// Scan implements sql.Scanner.
func (m *instant) Scan(stored any) error {
	switch v := stored.(type) {
	case nil:
		*m = instant{}
	case int64:
		*m = instant(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("a time is stored as %T", stored)
	}
	return nil
}

// packDigest is a digest as it is stored: the 32 bytes of a SHA-256 in lower-case
// hex, any other text as it is.
func packDigest(text string) any {
	if b, ok := unhex(text, 32); ok {
		return b
	}
	return text
}

// packID is an id as it is stored: the 16 bytes of a UUID in its usual spelling, any
// other text as it is.
func packID(text string) any {
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		if b, ok := unhex(text[:8]+text[9:13]+text[14:18]+text[19:23]+text[24:], 16); ok {
			return b
		}
	}
	return text
}

// unhex decodes size bytes of lower-case hex.
func unhex(text string, size int) ([]byte, bool) {
	if len(text) != 2*size || strings.ContainsAny(text, "ABCDEF") {
		return nil, false
	}
	b, err := hex.DecodeString(text)
	return b, err == nil
}

// packed reads what packDigest or packID has stored.
type packed string

// Scan implements sql.Scanner.
func (p *packed) Scan(stored any) error {
	switch v := stored.(type) {
	case string:
		*p = packed(v)
	case []byte:
		text := hex.EncodeToString(v)
		if len(v) == 16 {
			text = text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
		}
		*p = packed(text)
	default:
		return fmt.Errorf("an id or a digest is stored as %T", stored)
	}
	return nil
}

// found turns the error of a query for one row into whether there is one.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, asDamage(err)
}
