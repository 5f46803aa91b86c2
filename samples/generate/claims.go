package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// cardColumns are the sheet of v2-several-claims: a row for each agreement, and
// a client may have several.
var cardColumns = []column{
	{"Received", 12, asDay, func(l lead) any { return l.received }},
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"Mobile", 16, asText, func(l lead) any { return l.mobile }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"Address", 44, "", func(l lead) any { return l.full() }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Opt in", 8, "", func(l lead) any { return l.optIn }},
	{"Agreement no", 14, asFive, func(l lead) any { return l.agreementNo }},
	{"Lender", 9, "", func(l lead) any { return l.lender }},
	{"Amount", 12, asMoney, func(l lead) any { return l.amount }},
	{"Signed", 17, asMinute, func(l lead) any { return l.signed }},
	{"Notes", 34, "", func(l lead) any { return l.notes }},
}

// cards are 92 rows of 45 clients. The first 45 rows are their first
// agreements; the second agreements of clients 2, 3, 5, 6, 8, 9 … follow, then
// the third ones of clients 3, 6, 9 …, typed in by somebody who writes e-mail
// addresses in capitals. The last two rows repeat the agreements of rows 5 and
// 60: the same claim, sent in again with less known of it.
func cards(r *rand.Rand) []lead {
	const clients = 45
	leads := newLeads(r, clients, 1)
	number := leads[clients-1].agreementNo
	for round := 2; round <= 3; round++ {
		for i := range clients {
			if i%3 < round-1 {
				continue
			}
			number += 7
			again := leads[i]
			again.agreement = newAgreement(r, number)
			again.received = again.received.AddDate(0, 0, 7*round)
			again.notes = pick(r, notes)
			again.mobile = compact(again.mobile)
			if round == 3 {
				again.email = strings.ToUpper(again.email)
			}
			leads = append(leads, again)
		}
	}
	for _, row := range []int{5, 60} {
		again := leads[row-2]
		again.received = again.received.AddDate(0, 0, 21)
		again.notes = "Form came in twice"
		again.instead = map[string]any{"Address": "", "Signed": ""}
		leads = append(leads, again)
	}
	slip(leads, 14, "Lender", "XXXX") // client 13, one agreement
	slip(leads, 53, "Amount", "abc")  // client 11, whose other agreement in row 12 is in order
	slip(leads, 80, "Lender", "")     // client 12, whose other agreements in rows 13 and 54 are in order
	return leads
}

// wideColumns are the sheet of v2-wide: a row for each client, with up to three
// agreements beside each other.
var wideColumns = append([]column{
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
}, slices.Concat(agreementColumns(1), agreementColumns(2), agreementColumns(3))...)

// agreementColumns are the columns of a lead's agreement, counted from 1.
func agreementColumns(number int) []column {
	of := func(value func(agreement) any) func(lead) any {
		return func(l lead) any {
			all := append([]agreement{l.agreement}, l.further...)
			if number > len(all) {
				return ""
			}
			return value(all[number-1])
		}
	}
	return []column{
		{fmt.Sprint("Lender ", number), 10, "", of(func(a agreement) any { return a.lender })},
		{fmt.Sprint("Agreement ", number), 13, asFive, of(func(a agreement) any { return a.agreementNo })},
		{fmt.Sprint("Amount ", number), 12, asMoney, of(func(a agreement) any { return a.amount })},
	}
}

// wide is 18 leads. The first has one agreement, the second has two, and the third
// has three. This repeats every three leads.
func wide(r *rand.Rand) []lead {
	leads := newLeads(r, 18, 1)
	number := leads[len(leads)-1].agreementNo
	for i := range leads {
		for range i % 3 {
			number += 7
			leads[i].further = append(leads[i].further, newAgreement(r, number))
		}
	}
	slip(leads, 6, "Amount 2", "abc")   // of a client with two agreements
	slip(leads, 10, "Lender 3", "XXXX") // of a client with three
	return leads
}
