package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// lead is one row of a sheet. Each sample shows some of its fields.
type lead struct {
	number int
	person
	agreement
	vehicle
	received time.Time // a day
	optIn    string
	further  []agreement // in a wide sheet: the row's second and third agreement
	notes    string
	next     string         // in v2-resume-by-column: where the client continues
	partner  person         // in v2-joint-claimants; the zero person for none
	review   string         // in v2-assigned: Yes or No
	instead  map[string]any // what a column shows in place of the truth, by its header: somebody's slip
}

// agreement is a credit agreement; signed is a wall clock time in the sheet's timezone.
type agreement struct {
	agreementNo int
	lender      string
	amount      float64
	months      int
	rate        float64
	signed      time.Time
}

// vehicle is a car bought on finance.
type vehicle struct {
	registration, make, model string
	miles                     int
	price, deposit            float64
	bought                    time.Time
	dealer                    string
}

// notes are remarks of sales people. No mapping uses them.
var notes = []string{
	"", "", "", "", "Called twice, no answer", "Prefers e-mail", "Call after 6 pm", "Spoke to husband – call back Tue",
	"Has the paperwork", "Moved house in 2019", "Wants a letter, not a text", "Via price comparison site", "???",
	"Two agreements, see other row", "50% sure about the date",
}

// newLeads draws n leads of n people, numbered from first.
func newLeads(r *rand.Rand, n, first int) []lead {
	people, leads := newCrowd(r), make([]lead, n)
	for i := range leads {
		leads[i] = lead{
			number: first + i, person: people.next(), vehicle: newVehicle(r),
			agreement: newAgreement(r, 100+i*7),
			received:  day(2026, time.October, 5).AddDate(0, 0, i/8),
			optIn:     pick(r, []string{"Yes", "Yes", "Yes", "No"}),
			notes:     pick(r, notes),
		}
	}
	return leads
}

func newAgreement(r *rand.Rand, number int) agreement {
	return agreement{
		agreementNo: number,
		lender:      pick(r, []string{"LLOY", "BARC", "NWBK", "SANT", "BLKH", "MOTO"}),
		amount:      float64(150_000+r.IntN(3_000_000)) / 100,
		months:      12 * (1 + r.IntN(5)),
		rate:        float64(390+r.IntN(1500)) / 100,
		signed: day(2007+r.IntN(14), time.January, 1+r.IntN(365)).
			Add(time.Duration(9*60+r.IntN(9*60)) * time.Minute),
	}
}

func newVehicle(r *rand.Rand) vehicle {
	car := pick(r, [][2]string{
		{"Ford", "Fiesta"}, {"Ford", "Focus"}, {"Vauxhall", "Corsa"}, {"Volkswagen", "Golf"}, {"Nissan", "Qashqai"},
		{"Kia", "Cee'd"}, {"Renault", "Mégane"}, {"Škoda", "Octavia"}, {"Citroën", "C3"}, {"Toyota", "Yaris"},
	})
	year := 2008 + r.IntN(12)
	v := vehicle{
		// No real plate has an I among its last three letters.
		registration: fmt.Sprintf("%c%c%02d %cI%c", pick(r, []rune("ABDLMNY")), pick(r, []rune("ABCDE")), year%100,
			pick(r, []rune("ABCDEF")), pick(r, []rune("XYZ"))),
		make: car[0], model: car[1],
		miles:  r.IntN(90_000),
		price:  float64(300_000+r.IntN(2_200_000)) / 100,
		bought: day(year, time.January, 1+r.IntN(365)),
		dealer: pick(r, []string{"Northgate Motors", "Car-Mart Ltd", "A1 Autos", "Pugh & Sons", "Big Blue Car Company"}),
	}
	v.deposit = float64(int(v.price/10)) - 0.01
	return v
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

// slip replaces a value in a row with a wrong one. Rows are numbered as a
// spreadsheet program shows them: the first lead is in row 2.
func slip(leads []lead, row int, header string, value any) {
	l := &leads[row-2]
	if l.instead == nil {
		l.instead = map[string]any{}
	}
	l.instead[header] = value
}
