package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// enquiryColumns are the sheet of v1-step-1: people who left their details on
// a web form and are sent to the first step.
var enquiryColumns = []column{
	{"Lead no", 9, "", func(l lead) any { return l.number }},
	{"Received", 12, asDay, func(l lead) any { return l.received }},
	{"Title", 7, "", func(l lead) any { return l.title }},
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"DOB", 12, asDay, func(l lead) any { return l.born }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"Mobile", 16, asText, func(l lead) any { return l.mobile }},
	{"Landline", 16, asText, func(l lead) any { return l.landline }},
	{"Address", 34, "", func(l lead) any { return l.street }},
	{"Town", 13, "", func(l lead) any { return l.town }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Opt in", 8, "", func(l lead) any { return l.optIn }},
	{"Notes", 34, "", func(l lead) any { return l.notes }},
}

// enquiries are 40 leads. Some have no e-mail address and are known by their
// mobile number, others have no mobile.
func enquiries(r *rand.Rand) []lead {
	leads := newLeads(r, 40, 4101)
	for i := range leads {
		switch i % 10 {
		case 3:
			leads[i].email = ""
		case 6:
			leads[i].mobile = ""
		case 2, 8:
			leads[i].landline = ""
		}
	}
	slip(leads, 9, "E-mail", strings.Replace(leads[9-2].email, "@", ".", 1))
	slip(leads, 18, "DOB", "30/02/1981")
	slip(leads, 31, "Last name", "")
	return leads
}

// vehicleColumns are the sheet of v1-resume: car finance, with dates that some
// export turned into text.
var vehicleColumns = []column{
	{"Ref", 10, "", func(l lead) any { return fmt.Sprintf("CF-%04d", l.number) }},
	{"Title", 7, "", func(l lead) any { return l.title }},
	{"First name", 14, "", func(l lead) any { return l.first }},
	{"Last name", 20, "", func(l lead) any { return l.last }},
	{"DOB", 12, asText, func(l lead) any { return l.born.Format("02/01/2006") }},
	{"E-mail", 38, "", func(l lead) any { return l.email }},
	{"Mobile", 16, asText, func(l lead) any { return l.mobile }},
	{"Address", 44, "", func(l lead) any { return l.full() }},
	{"Post code", 11, "", func(l lead) any { return l.postcode }},
	{"Opt in", 8, "", func(l lead) any { return l.optIn }},
	{"Reg", 11, "", func(l lead) any { return l.registration }},
	{"Make", 12, "", func(l lead) any { return l.make }},
	{"Model", 11, "", func(l lead) any { return l.model }},
	{"Mileage", 10, "#,##0", func(l lead) any { return l.miles }},
	{"Price", 12, asMoney, func(l lead) any { return l.price }},
	{"Deposit", 12, asMoney, func(l lead) any { return l.deposit }},
	{"Bought", 12, asText, func(l lead) any { return l.bought.Format("02/01/2006") }},
	{"New?", 7, "", func(l lead) any { return map[bool]string{true: "N", false: "U"}[l.miles < 100] }},
	{"Dealer", 22, "", func(l lead) any { return l.dealer }},
	{"Notes", 34, "", func(l lead) any { return l.notes }},
}

// vehicles are 60 leads; every fifth car was new.
func vehicles(r *rand.Rand) []lead {
	leads := newLeads(r, 60, 1)
	for i := range leads {
		if i%5 == 0 {
			leads[i].miles = i % 7
		}
		if i%6 == 4 {
			leads[i].vehicle.dealer = ""
		}
	}
	slip(leads, 12, "DOB", "31/02/1979")
	slip(leads, 27, "Price", "abc")
	slip(leads, 28, "Reg", "")
	slip(leads, 55, "New?", "?")
	return leads
}
