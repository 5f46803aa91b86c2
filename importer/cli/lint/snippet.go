package lint

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"claimsheet/mapping/problem"
)

// mostCells is how wide an excerpt of a line is, in cells of a terminal.
const mostCells = 100

// Snippet shows a line of a file and, below it, a caret under a column, which counts
// characters from 1, with a line under the rest of the word. Of a long line it shows
// the part around the column. It ends with a line feed.
func Snippet(line string, number, column int) string {
	text := []rune(strings.TrimRight(line, " \t"))
	at := min(max(column-1, 0), len(text))
	end := at + max(wordLength(text[at:]), 1)
	from, to := window(text, at)
	var shown, under strings.Builder
	if from > 0 {
		shown.WriteRune('…')
		under.WriteByte(' ')
	}
	for i := from; i < to; i++ {
		shown.WriteString(visible(text[i]))
		mark := " "
		switch {
		case text[i] == '\t' && i < at:
			mark = "\t" // the terminal makes both as wide
		case i == at:
			mark = "^" + strings.Repeat("~", max(cells(text[i])-1, 0))
		case i > at && i < end:
			mark = strings.Repeat("~", cells(text[i]))
		case i > at:
			continue
		default:
			mark = strings.Repeat(" ", cells(text[i]))
		}
		under.WriteString(mark)
	}
	if at >= to {
		under.WriteByte('^')
	}
	if to < len(text) {
		shown.WriteRune('…')
	}
	label := fmt.Sprintf("%4d", number)
	return label + " | " + shown.String() + "\n" + strings.Repeat(" ", len(label)) + " | " + under.String() + "\n"
}

// wordLength is how many characters the key or value at the beginning of a text has:
// what is in quotes, or everything before a sign of YAML or a comment.
func wordLength(text []rune) int {
	if len(text) == 0 {
		return 0
	}
	length := 0
	for i, r := range text {
		if quote := text[0]; quote == '"' || quote == '\'' {
			if i > 0 && r == quote {
				return i + 1
			}
		} else if strings.ContainsRune(",:]}\t", r) || r == '#' && i > 0 && text[i-1] == ' ' {
			break
		}
		if !unicode.IsSpace(r) {
			length = i + 1
		}
	}
	return length
}

// window returns the part of a line that is shown: all of it, or what is around at.
func window(text []rune, at int) (from, to int) {
	total := 0
	for _, r := range text {
		total += cells(r)
	}
	if total <= mostCells {
		return 0, len(text)
	}
	room := mostCells / 2
	for from = at; from > 0 && room >= cells(text[from-1]); from-- {
		room -= cells(text[from-1])
	}
	room += mostCells / 2
	for to = from; to < len(text) && (to < at || room > 0); to++ {
		if to >= at {
			room -= cells(text[to])
		}
	}
	return from, to
}

// visible is a character as it is printed.
func visible(r rune) string {
	if r != '\t' && problem.IsControl(r) {
		return " "
	}
	return string(r)
}

// cells is how many cells of a terminal a character takes.
func cells(r rune) int {
	switch {
	case problem.IsControl(r):
		return 1 // printed as a space, or a tab
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
