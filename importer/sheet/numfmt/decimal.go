package numfmt

import (
	"bytes"
	"strconv"
)

// significant is the number of digits that a spreadsheet keeps of a number.
const significant = 15

// decimal is a number by its digits: 0.digits × 10^point. Zero has no digits.
type decimal struct {
	negative bool
	digits   []byte // without zeros at either end
	point    int
}

// parseDecimal reads a number as files spell it: 12, -0.5, 1.2E-7. ok is false for
// text that is not a number, and for a number beyond a spreadsheet's range.
//
// The number is rounded to 15 significant digits, as spreadsheet programs show it:
// files hold 1.1000000000000001 for 1.1. A number with more than 15 digits before
// its point keeps them all, so that the conversion can refuse it: the program that
// wrote it has already lost digits.
func parseDecimal(b []byte) (d decimal, ok bool) {
	d, ok = scanDecimal(b)
	if !ok || len(d.digits) == 0 {
		return d, ok
	}
	if d.point > 309 || d.point < -330 {
		return d, false
	}
	if len(d.digits) > significant && d.point <= significant {
		d.round(significant)
	}
	return d, true
}

func scanDecimal(b []byte) (d decimal, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		d.negative = b[0] == '-'
		b = b[1:]
	}
	mantissa, exponent := b, 0
	if i := bytes.IndexAny(b, "eE"); i >= 0 {
		n, err := strconv.Atoi(string(b[i+1:]))
		if err != nil {
			return d, false
		}
		mantissa, exponent = b[:i], max(-1_000_000, min(n, 1_000_000))
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	if len(whole)+len(fraction) == 0 || len(mantissa) > 1_000 {
		return d, false
	}
	all := append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	for _, c := range all {
		if c < '0' || c > '9' {
			return d, false
		}
	}
	d.point = len(whole) + exponent
	d.digits = bytes.TrimLeft(all, "0")
	d.point -= len(all) - len(d.digits)
	d.digits = bytes.TrimRight(d.digits, "0")
	if len(d.digits) == 0 {
		return decimal{}, true // also -0
	}
	return d, true
}

// round keeps n digits and rounds half away from zero; n may be 0 or less.
func (d *decimal) round(n int) {
	if n >= len(d.digits) {
		return
	}
	up := n >= 0 && d.digits[n] >= '5'
	d.digits = d.digits[:max(n, 0)]
	for i := len(d.digits) - 1; up && i >= 0; i-- {
		if d.digits[i] != '9' {
			d.digits[i]++
			up = false
			break
		}
		d.digits = d.digits[:i]
	}
	if up {
		d.digits = append(d.digits[:0], '1')
		d.point++
	}
	d.digits = bytes.TrimRight(d.digits, "0")
}

// whole appends the digits before the point; none for a number below one.
func (d decimal) whole(dst []byte) []byte {
	for i := range max(d.point, 0) {
		dst = append(dst, d.digit(i))
	}
	return dst
}

// decimals appends the first n digits after the point.
func (d decimal) decimals(dst []byte, n int) []byte {
	for i := range n {
		dst = append(dst, d.digit(d.point+i))
	}
	return dst
}

func (d decimal) digit(i int) byte {
	if i < 0 || i >= len(d.digits) {
		return '0'
	}
	return d.digits[i]
}

// appendGeneral appends all digits of the number, never with an exponent.
func (d decimal) appendGeneral(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	if d.point <= 0 || len(d.digits) == 0 {
		dst = append(dst, '0')
	}
	if len(d.digits) == 0 {
		return dst
	}
	dst = d.whole(dst)
	if n := len(d.digits) - d.point; n > 0 {
		dst = d.decimals(append(dst, '.'), n)
	}
	return dst
}

// float returns the number's value.
func (d decimal) float() float64 {
	if len(d.digits) == 0 {
		return 0
	}
	b := make([]byte, 0, len(d.digits)+8)
	if d.negative {
		b = append(b, '-')
	}
	b = append(append(b, "0."...), d.digits...)
	b = strconv.AppendInt(append(b, 'e'), int64(d.point), 10)
	f, _ := strconv.ParseFloat(string(b), 64) // infinite beyond the range, which compares correctly
	return f
}

// isPlain reports whether a number is spelt as General shows it, as most are.
func isPlain(b []byte) bool {
	if len(b) > 1 && b[0] == '-' && string(b) != "-0" {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > significant || b[0] == '0' && len(b) > 1 && b[1] != '.' {
		return false
	}
	dot := -1
	for i, c := range b {
		switch {
		case '0' <= c && c <= '9':
		case c == '.' && dot < 0 && i > 0:
			dot = i
		default:
			return false
		}
	}
	if dot < 0 {
		return b[0] != '0' || len(b) == 1
	}
	return dot < len(b)-1 && b[len(b)-1] != '0'
}
