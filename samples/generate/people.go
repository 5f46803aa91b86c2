package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// person is a made-up client.
type person struct {
	title, first, last string
	born               time.Time
	email              string
	mobile, landline   string
	place
}

// crowd draws people. No two share an e-mail address or a telephone number,
// because the service would treat them as one client.
type crowd struct {
	r       *rand.Rand
	taken   map[string]bool
	mobiles []int
	lines   []int
}

func newCrowd(r *rand.Rand) *crowd {
	return &crowd{r: r, taken: map[string]bool{}, mobiles: r.Perm(1000), lines: r.Perm(1000)}
}

// next draws one more person.
func (c *crowd) next() person {
	p := person{title: pick(c.r, titles), place: newPlace(c.r)}
	p.born = time.Date(1942+c.r.IntN(62), time.January, 1+c.r.IntN(365), 0, 0, 0, 0, time.UTC)
	for p.email == "" || c.taken[p.email] {
		first, last := pick(c.r, firstNames), pick(c.r, lastNames)
		p.first, p.last = first.shown, last.shown
		p.email = address(c.r, first.plain, last.plain, p.born)
	}
	c.taken[p.email] = true
	p.mobile, c.mobiles = mobile(c.r, c.mobiles[0]), c.mobiles[1:]
	p.landline, c.lines = landline(c.r, c.lines[0]), c.lines[1:]
	return p
}

// address makes an e-mail address in one of several usual styles.
func address(r *rand.Rand, first, last string, born time.Time) string {
	local := pick(r, []string{
		first + "." + last,
		first[:1] + "." + last,
		first + last + born.Format("06"),
		first + "_" + last,
	})
	return local + "@" + pick(r, []string{"example.com", "example.org", "example.net"})
}

// mobile returns a number from 07700 900000 to 900999, written in one of three ways.
func mobile(r *rand.Rand, n int) string {
	return fmt.Sprintf(pick(r, []string{"07700900%03d", "07700 900%03d", "07700 900 %03d"}), n)
}

// landline returns a number from 0113 496 0000 to 0999 or 020 7946 0000 to 0999.
func landline(r *rand.Rand, n int) string {
	return fmt.Sprintf(pick(r, []string{"0113 496 0%03d", "01134960%03d", "020 7946 0%03d"}), n)
}

// compact returns a telephone number without spaces.
func compact(number string) string { return strings.ReplaceAll(number, " ", "") }

// pick draws one of the choices.
func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }
