package main

import (
	"math/rand/v2"
	"strings"
)

// campaignColumns are the sheet of v2-step-1: an e-mail campaign of one lender's
// loans, whose clients begin at the first step.
var campaignColumns = []column{
	{"Lead no", 9, asFive, func(l lead) any { return l.number }},
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
	{"Balance", 12, asMoney, func(l lead) any { return l.amount }},
	{"Notes", 34, "", func(l lead) any { return l.notes }},
}

// campaign is 200 leads, some without a mobile.
func campaign(r *rand.Rand) []lead {
	leads := newLeads(r, 200, 57)
	for i := range leads {
		if i%9 == 5 {
			leads[i].mobile = ""
		}
	}
	slip(leads, 23, "E-mail", strings.Replace(leads[23-2].email, "@", "(at)", 1))
	slip(leads, 64, "DOB", "31/11/1984")
	slip(leads, 110, "Post code", "")
	slip(leads, 187, "Opt in", "ask again")
	return leads
}

// loanColumns are the sheet of v2-step-3: loan agreements, ready to be signed.
var loanColumns = []column{
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"Mobile", 16, asText, func(l lead) any { return l.mobile }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"Address", 34, "", func(l lead) any { return l.street }},
	{"Town", 13, "", func(l lead) any { return l.town }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Opt in", 8, "", func(l lead) any { return l.optIn }},
	{"Agreement no", 14, asFive, func(l lead) any { return l.agreementNo }},
	{"Lender", 9, "", func(l lead) any { return l.lender }},
	{"Amount", 12, asMoney, func(l lead) any { return l.amount }},
	{"Months", 9, "0", func(l lead) any { return l.months }},
	{"APR", 8, "0.00", func(l lead) any { return l.rate }},
	{"Signed", 17, asMinute, func(l lead) any { return l.signed }},
	{"Notes", 34, "", func(l lead) any { return l.notes }},
}

// loans are 80 leads.
func loans(r *rand.Rand) []lead {
	leads := newLeads(r, 80, 1)
	slip(leads, 7, "Lender", "HFCX")
	slip(leads, 33, "Amount", "abc")
	slip(leads, 34, "Amount", "")
	slip(leads, 71, "Signed", "31/06/2019 10:15")
	return leads
}
