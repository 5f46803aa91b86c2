package mapping

import (
	"claimsheet/mapping/cell"
	"strconv"
	"strings"
)

// refuse is a Refusal in one line of code.
func refuse(code, message, hint string) *Refusal {
	return &Refusal{Code: code, Message: message, Hint: hint}
}

// refuseUnreadable refuses cells that hold no value at all, whatever the type.
func refuseUnreadable(c cell.Cell) *Refusal {
	switch c.Kind {
	case cell.Error:
		message := "holds an error"
		if looksLikeErrorName(c.Raw) {
			message = "holds the error " + c.Raw
		}
		return refuse("cell-error", message, "mend the formula in the sheet, or clear the cell")
	case cell.Uncomputed:
		return refuse("cell-uncomputed", "is a formula without a stored result",
			"open the sheet that was exported in a spreadsheet program and save it, so that the results are stored; or type the value in place of the formula")
	}
	return nil
}

// looksLikeErrorName keeps anything but #N/A, #DIV/0!, #NAME? and their kind
// out of a message, because a message never quotes what a cell holds.
func looksLikeErrorName(name string) bool {
	if len(name) < 2 || len(name) > 16 || name[0] != '#' {
		return false
	}
	for _, b := range []byte(name[1:]) {
		if (b < 'A' || b > 'Z') && !strings.ContainsRune("/!?_0", rune(b)) {
			return false
		}
	}
	return true
}

// refuseTooLong refuses a text of more than limit characters (0: no limit).
func refuseTooLong(s string, limit int) *Refusal {
	if limit <= 0 || len(s) <= limit {
		return nil
	}
	n := 0
	for range s {
		n++
	}
	if n <= limit {
		return nil
	}
	return refuse("too-long", "has "+strconv.Itoa(n)+" characters; expected at most "+strconv.Itoa(limit),
		"shorten the text, or raise max_length if the service takes more")
}
