package main

import (
	"fmt"
	"math/rand/v2"
)

// place is where somebody lives.
type place struct{ street, town, postcode string }

// towns are towns with one of their outward post codes.
var towns = [][2]string{
	{"Leeds", "LS"}, {"Bradford", "BD"}, {"Sheffield", "S"}, {"York", "YO"}, {"Manchester", "M"}, {"Liverpool", "L"},
	{"Birmingham", "B"}, {"Nottingham", "NG"}, {"Norwich", "NR"}, {"Bristol", "BS"}, {"Plymouth", "PL"}, {"Cardiff", "CF"},
	{"Swansea", "SA"}, {"Glasgow", "G"}, {"Edinburgh", "EH"}, {"Aberdeen", "AB"}, {"Belfast", "BT"}, {"Croydon", "CR"},
}

var streets = []string{
	"High Street", "Station Road", "St John’s Road", "King's Avenue", "Mill Lane", "Church Street", "The Crescent",
	"Victoria Terrace", "Albert Road", "Queensway", "Bishop's Close", "Ffordd y Môr", "Castle Wynd", "Meadow View", "Park Row",
}

func newPlace(r *rand.Rand) place {
	town := pick(r, towns)
	p := place{street: fmt.Sprintf("%d %s", 1+r.IntN(180), pick(r, streets)), town: town[0]}
	switch r.IntN(8) {
	case 0:
		p.street = fmt.Sprintf("Flat %d, %s", 1+r.IntN(24), p.street)
	case 1:
		p.street = fmt.Sprintf("%d%c %s", 1+r.IntN(90), 'A'+rune(r.IntN(3)), pick(r, streets))
	}
	// The last two letters of a real post code are never C, I, K, M, O or V.
	p.postcode = fmt.Sprintf("%s%d %d%c%c", town[1], 1+r.IntN(20), 1+r.IntN(9), pick(r, []rune("ABDEFGHJ")), pick(r, []rune("CKMV")))
	return p
}

// full returns the address as one text.
func (p place) full() string { return p.street + ", " + p.town }
