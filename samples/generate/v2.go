package main

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// firstColumns are the sheet of first: the mapping of the README.
var firstColumns = []column{
	{"Lead no", 9, asFive, func(l lead) any { return l.number }},
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Agreement no", 14, asFive, func(l lead) any { return l.agreementNo }},
	{"Lender", 9, "", func(l lead) any { return l.lender }},
	{"Amount", 12, asMoney, func(l lead) any { return l.amount }},
}

// first are 12 rows of 10 clients, without a mistake: the clients of rows 3 and 6
// have a second agreement, in the last two rows.
func first(r *rand.Rand) []lead {
	leads := newLeads(r, 10, 1)
	for _, row := range []int{3, 6} {
		again := leads[row-2]
		again.agreement = newAgreement(r, 900+row)
		leads = append(leads, again)
	}
	for i := range leads {
		leads[i].lender = []string{"LLOY", "BARC"}[i%2]
	}
	return leads
}

// guideColumns are the sheet of guide, which docs/guide.md works through: a report
// with the words that people use, and days as texts.
var guideColumns = []column{
	{"Ref", 8, asFive, func(l lead) any { return l.number }},
	{"Forename", 12, "", func(l lead) any { return l.first }},
	{"Surname", 15, "", func(l lead) any { return l.last }},
	{"Email address", 32, "", func(l lead) any { return l.email }},
	{"Tel (mobile)", 16, asText, func(l lead) any { return l.mobile }},
	{"D.O.B.", 12, asText, func(l lead) any { return l.born.Format("02/01/2006") }},
	{"Postcode", 11, "", func(l lead) any { return l.postcode }},
	{"Consent?", 10, "", func(l lead) any { return l.optIn[:1] }},
	{"Finance company", 16, "", func(l lead) any { return l.lender }},
	{"Agreement no.", 14, asFive, func(l lead) any { return l.agreementNo }},
	{"Amount borrowed", 16, asMoney, func(l lead) any { return l.amount }},
	{"Remarks", 26, "", func(l lead) any { return l.notes }},
}

// guide are 16 rows of 15 clients: the client of row 6 has a second agreement. The
// title takes two rows, so the rows here are two less than in the sheet.
func guide(r *rand.Rand) []lead {
	leads := newLeads(r, 15, 241)
	again := leads[6-2-2]
	again.agreement = newAgreement(r, 950)
	leads = append(leads, again)
	for i := range leads {
		leads[i].lender = []string{"Lloyds", "Barclays", "Santander", "NatWest"}[i%4]
	}
	leads[4].mobile, leads[9].mobile = "n/a", "n/a"
	slip(leads, 11-2, "D.O.B.", "31/11/1984")
	slip(leads, 15-2, "Finance company", "Barclay card")
	return leads
}

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

// stepColumns are the sheet of v2-resume-by-column: each row says where its client
// continues.
var stepColumns = append([]column{{"Next step", 20, "", func(l lead) any { return l.next }}}, loanColumns...)

// steps are 30 leads. The first continues at the first activity, the second lead at
// the second activity, and the third at the third. This repeats every three leads.
func steps(r *rand.Rand) []lead {
	leads := newLeads(r, 30, 1)
	for i := range leads {
		leads[i].next = []string{"Your details", "Agreement details", "Sign your claim"}[i%3]
	}
	slip(leads, 8, "Next step", "Sing your claim")
	slip(leads, 20, "Next step", "")
	slip(leads, 25, "Amount", "abc")
	return leads
}

// callColumns are the sheet of v2-by-phone: people who called, and whose number is
// all that is known for certain.
var callColumns = []column{
	{"Mobile", 18, asText, func(l lead) any { return l.mobile }},
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Lender", 9, "", func(l lead) any { return l.lender }},
	{"Agreement no", 14, asFive, func(l lead) any { return l.agreementNo }},
}

// calls are 25 rows of 24 clients: the last row is a second agreement of the client
// in row 3, with the number in its international form. Two out of three gave no
// e-mail address.
func calls(r *rand.Rand) []lead {
	leads := newLeads(r, 24, 1)
	for i := range leads {
		if i%3 != 1 {
			leads[i].email = ""
		}
	}
	again := leads[3-2]
	again.agreement = newAgreement(r, 900)
	again.mobile = "+44 " + strings.TrimPrefix(compact(again.mobile), "0")
	leads = append(leads, again)
	slip(leads, 6, "Mobile", "07700 90")
	return leads
}

// reviewColumns are the sheet of v2-assigned: some leads need a case handler's
// review as well.
var reviewColumns = append(slices.Clone(loanColumns), column{"Review", 9, "", func(l lead) any { return l.review }})

// reviews are 20 leads. Every fourth lead needs a review, beginning with the first.
func reviews(r *rand.Rand) []lead {
	leads := newLeads(r, 20, 1)
	for i := range leads {
		if leads[i].review = "No"; i%4 == 0 {
			leads[i].review = "Yes"
		}
	}
	slip(leads, 9, "Amount", "abc")
	return leads
}

// typed are the 12 leads of v2-claim-type.
func typed(r *rand.Rand) []lead {
	leads := newLeads(r, 12, 1)
	slip(leads, 11, "Lender", "HFCX")
	return leads
}

// exported are the 30 leads of v2-csv.
func exported(r *rand.Rand) []lead {
	leads := newLeads(r, 30, 57)
	slip(leads, 4, "DOB", "31/11/1984")
	slip(leads, 19, "Balance", "£1,23.00")
	return leads
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

// jointColumns are the sheet of v2-joint-claimants: loans that some clients have
// together with a partner.
var jointColumns = []column{
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Lender", 9, "", func(l lead) any { return l.lender }},
	{"Agreement no", 14, asFive, func(l lead) any { return l.agreementNo }},
	{"Amount", 12, asMoney, func(l lead) any { return l.amount }},
	{"Partner first name", 18, "", func(l lead) any { return l.partner.first }},
	{"Partner last name", 20, "", func(l lead) any { return l.partner.last }},
	{"Partner e-mail", 38, "", func(l lead) any { return l.partner.email }},
}

// joint are 20 leads. Every other lead has a partner, beginning with the first. The
// first lead and the eleventh have the same partner.
func joint(r *rand.Rand) []lead {
	leads := newLeads(r, 30, 1)
	leads, others := leads[:20], leads[20:]
	for i := 0; i < len(leads); i += 2 {
		leads[i].partner = others[i/2].person
	}
	leads[10].partner = leads[0].partner
	slip(leads, 6, "Partner e-mail", strings.Replace(leads[6-2].partner.email, "@", "(at)", 1))
	slip(leads, 9, "Amount", "abc") // of a client without a partner
	return leads
}
