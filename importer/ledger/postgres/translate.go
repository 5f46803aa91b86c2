package postgres

import (
	"database/sql/driver"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// translated are the statements that translate was given, in PostgreSQL's words. There
// are about a hundred.
var translated sync.Map

// words are what PostgreSQL says in other words than SQLite, beside the parameters.
var words = strings.NewReplacer(
	"c.client GLOB '*[^ -~]*'", "c.client ~ '[^ -~]'",
	"char(1114111)", "chr(1114111)",
	"CROSS JOIN", "JOIN", // SQLite is told the order
)

// indexedBy names the index that SQLite is to use. PostgreSQL chooses itself.
var indexedBy = regexp.MustCompile(` INDEXED BY \w+`)

// each is a list of texts that is given as a parameter. A list of numbers is cast.
var each = regexp.MustCompile(`json_each\((\$\d+)\)`)

// translate returns a statement of the ledger in PostgreSQL's words.
func translate(text string) string {
	if known, ok := translated.Load(text); ok {
		return known.(string)
	}
	own := each.ReplaceAllString(parameters(words.Replace(indexedBy.ReplaceAllString(text, ""))), "unnest($1::text[]) value")
	translated.Store(text, own)
	return own
}

// parameters replaces ?, which is the one after the highest so far, and ?1, ?2 by $1, $2.
// No text in a statement has a question mark.
func parameters(text string) string {
	var b strings.Builder
	highest := 0
	for {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		n, err := strconv.Atoi(after[:digits])
		if err != nil {
			n = highest + 1
		}
		highest = max(highest, n)
		fmt.Fprintf(&b, "$%d", n)
		text = after[digits:]
	}
}

// arguments are the arguments of a statement as pgx takes them; see ledger.Server.
func arguments(named []driver.NamedValue) ([]any, error) {
	args := make([]any, len(named))
	for i, n := range named {
		switch v := n.Value.(type) {
		case interface{ Text() string }:
			args[i] = escape(v.Text())
		case interface{ Texts() []string }:
			texts := make([]string, 0, len(v.Texts()))
			for _, t := range v.Texts() {
				texts = append(texts, escape(t))
			}
			args[i] = texts
		default:
			plain, err := driver.DefaultParameterConverter.ConvertValue(v)
			if err != nil {
				return nil, err
			}
			switch p := plain.(type) {
			case string:
				plain = escape(p)
			case bool:
				plain = int64(0)
				if p {
					plain = int64(1)
				}
			}
			args[i] = plain
		}
	}
	return args, nil
}

// values are the values of a row as the ledger reads them.
func values(found []any) ([]driver.Value, error) {
	row := make([]driver.Value, len(found))
	for i, v := range found {
		switch v := v.(type) {
		case nil, int64, float64, []byte:
			row[i] = v
		case int32:
			row[i] = int64(v)
		case bool:
			row[i] = int64(0)
			if v {
				row[i] = int64(1)
			}
		case string:
			text, err := unescape(v)
			if err != nil {
				return nil, err
			}
			row[i] = text
		default:
			return nil, fmt.Errorf("column %d is a %T", i+1, v)
		}
	}
	return row, nil
}

// PostgreSQL stores no NUL and no text that is not UTF-8. A service may send either, for
// example in an id, and an id is never changed. So such bytes are stored as the escape
// character and two hex digits, and so is the escape character. Every other text is
// stored as it is.
const (
	escapeCharacter = '\x1a'
	hexDigits       = "0123456789abcdef"
)

func escape(text string) string {
	if strings.IndexByte(text, 0) < 0 && strings.IndexByte(text, escapeCharacter) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == 0 || r == escapeCharacter || r == utf8.RuneError && size == 1 {
			b.Write([]byte{escapeCharacter, hexDigits[text[i]>>4], hexDigits[text[i]&15]})
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unescape(stored string) (string, error) {
	if strings.IndexByte(stored, escapeCharacter) < 0 {
		return stored, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(stored, string(rune(escapeCharacter)))
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if len(after) < 2 {
			return "", fmt.Errorf("a text ends within an escaped byte")
		}
		n, err := strconv.ParseUint(after[:2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("a text has an escaped byte that is not hex")
		}
		b.WriteByte(byte(n))
		stored = after[2:]
	}
}
