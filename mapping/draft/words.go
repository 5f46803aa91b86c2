package draft

import (
	"regexp"
	"strings"
)

// synonyms are what headers and attributes call one thing, in English and German: the words that it is compared by, and the
// other names for it. Names are in the spelling of wordsOf.
var synonyms = map[string][]string{
	"email": {"e mail", "mail", "email address", "e mail address", "mail address", "email adresse", "e mail adresse", "mailadresse",
		"emailadresse", "emailaddress"},
	"name first": {"first", "first name", "firstname", "forename", "given name", "fname", "vorname", "rufname", "christian name",
		"first names", "forenames"},
	"name last": {"last", "last name", "lastname", "surname", "family name", "lname", "nachname", "familienname", "zuname"},
	"name full": {"full name", "fullname", "client name", "customer name", "applicant name", "claimant name", "lead name", "kundenname",
		"vor und nachname", "name"},
	"name last former": {"previous surname", "former surname", "maiden name", "previous last name", "former last name", "previous name",
		"former name", "geburtsname", "frueherer name", "maedchenname"},
	"mobile": {"mobile phone", "mobile number", "mobile no", "mobile tel", "mobile telephone", "mobile telephone number", "mob",
		"mob no", "cell", "cell phone", "cellphone", "handy", "handynummer", "handynr", "handy nr", "mobil", "mobilnummer", "mobilnr",
		"mobil nr", "mobiltelefon", "mobilfunk", "mobilfunknummer", "mobile phone number"},
	"phone": {"telephone", "tel", "tel no", "tel nr", "telephone number", "telephone no", "phone number", "phone no", "contact number",
		"contact no", "best contact number", "best contact no", "best phone number", "best number", "telefon", "telefonnummer",
		"telefonnr", "telefon nr", "rufnummer", "daytime phone"},
	"landline": {"home phone", "home telephone", "home tel", "festnetz", "festnetznummer", "telefon privat"},
	"date birth": {"date of birth", "dob", "d o b", "birth date", "birthdate", "birthday", "born", "born on", "geburtsdatum",
		"geburtstag", "geb", "geb datum", "gebdatum", "geb am", "geboren am", "geboren"},
	"postcode": {"post code", "p code", "pcode", "zip", "zip code", "zipcode", "postal code", "plz", "postleitzahl"},
	"sortcode": {"sort code", "bank sort code", "blz", "bankleitzahl"},
	"address": {"addr", "home address", "postal address", "full address", "current address", "residential address", "adresse",
		"anschrift", "wohnanschrift"},
	"street": {"str", "street address", "street name", "strasse", "street and number", "strasse und hausnummer", "strasse hausnummer",
		"strasse nr", "address line 1", "address 1", "addr 1", "addr line 1", "address1"},
	"house number": {"house no", "hausnummer", "hausnr", "haus nr", "hnr", "house name or number"},
	"locality":     {"address line 2", "address 2", "addr 2", "addr line 2", "adresszusatz", "address2"},
	"town":         {"city", "ort", "stadt", "wohnort", "post town", "town city", "city town"},
	"county":       {"landkreis"},
	"title":        {"salutation", "anrede", "mr mrs", "mr ms"},
	"amount":       {"amt", "sum", "value", "betrag", "summe", "principal", "hoehe"},
	"loan amount": {"amount borrowed", "amount of loan", "loan value", "kreditbetrag", "darlehensbetrag", "darlehenssumme",
		"kreditsumme", "nettodarlehensbetrag", "amount of credit", "credit amount", "finance amount", "amount financed",
		"agreement amount"},
	"lender": {"finance company", "finance co", "finance provider", "loan company", "creditor", "kreditgeber", "darlehensgeber", "bank",
		"lender name", "name of lender", "kreditinstitut", "finance house", "bank name", "bank or lender", "lender or bank",
		"lender bank"},
	"agreement number": {"agreement no", "agreement ref", "agreement reference", "agreement", "agreement id", "agr no", "agrmt no",
		"agr number", "contract no", "contract number", "contract ref", "contract", "loan no", "loan number", "loan ref",
		"loan reference", "loan id", "credit agreement no", "credit agreement number", "finance agreement no",
		"finance agreement number", "vertragsnummer", "vertragsnr", "vertrags nr", "vertrag nr", "vertrag", "kreditnummer", "kreditnr",
		"darlehensnummer", "darlehensnr", "darlehens nr", "kreditvertragsnummer", "kreditvertragsnr"},
	"policy number": {"policy no", "policy ref", "policy", "police", "policennummer", "versicherungsnummer", "versicherungsschein nr"},
	"claim number":  {"claim no", "claim ref", "claim reference", "claim id", "schadennummer", "schadensnummer", "schaden nr"},
	"account number": {"account no", "acc no", "a c no", "acct no", "acct number", "acc number", "account", "kontonummer", "kontonr",
		"konto nr", "konto"},
	"account holder": {"name of account holder", "name on account", "kontoinhaber", "account name"},
	"client number": {"client no", "client id", "client ref", "client reference", "customer no", "customer number", "customer id",
		"customer ref", "customer reference", "customer account number", "customer account no", "client account number",
		"client account no", "customer account", "kundennummer", "kundennr", "kunden nr", "kd nr", "kdnr", "kunden id"},
	"lead number": {"lead no", "lead id", "lead ref", "lead reference", "leadnummer", "lead nr", "enquiry no", "enquiry id"},
	"reference": {"ref", "ref no", "reference number", "reference no", "our ref", "aktenzeichen", "az", "referenz", "ref nr",
		"case ref", "case no", "case number", "case id", "vorgangsnummer"},
	"number row": {"no", "nr", "number", "id", "row", "row no", "lfd nr", "laufende nummer", "pos", "nummer", "s no", "uid"},
	"registration": {"reg", "reg no", "reg number", "reg nr", "registration no", "registration number", "vrm", "vrn", "number plate",
		"kennzeichen", "car reg", "vehicle reg", "vehicle registration"},
	"make":             {"marke", "hersteller", "manufacturer", "car make", "vehicle make"},
	"model":            {"modell", "car model", "vehicle model"},
	"mileage":          {"miles", "kilometerstand", "km stand", "kilometer", "odometer", "odo"},
	"mileage purchase": {"mileage at purchase", "miles at purchase"},
	"price cash":       {"cash price", "price", "purchase price", "kaufpreis", "preis", "barpreis", "vehicle price", "car price"},
	"deposit":          {"deposit paid", "deposit amount", "anzahlung", "down payment"},
	"date purchase": {"purchase date", "date of purchase", "bought", "bought on", "date bought", "kaufdatum", "gekauft am",
		"date purchased"},
	"dealer": {"dealership", "dealer name", "name of dealer", "haendler", "autohaus", "autohaendler", "garage"},
	"rate interest": {"interest rate", "apr", "annual percentage rate", "zinssatz", "sollzins", "sollzinssatz", "effektivzins",
		"rate of interest"},
	"term months": {"term in months", "term", "term months", "months", "loan term", "laufzeit", "laufzeit in monaten",
		"laufzeit monate", "duration months", "no of months", "number of months", "term mths"},
	"agreement signed": {"agreement signed at", "agreement signed on", "contract signed", "signed agreement"},
	"agreement date":   {"contract date", "date of agreement", "vertragsdatum", "vertragsabschluss", "abschlussdatum", "loan date"},
	"agreement start": {"agreement start date", "contract start", "contract start date", "loan start date", "finance start date",
		"vertragsbeginn"},
	"start":   {"start date", "date started", "startdatum"},
	"signed":  {"signed at", "signed on", "date signed", "signature date", "unterschrieben am", "unterzeichnet am"},
	"settled": {"settled on", "settlement date", "date settled", "paid off", "paid off on", "abgeloest am", "abgeloest", "getilgt am"},
	"running": {"still running", "ongoing", "still active", "laeuft noch", "noch laufend", "active agreement"},
	"employment": {"employment status", "job status", "occupation status", "beschaeftigung", "beschaeftigungsstatus",
		"beschaeftigungsverhaeltnis", "anstellung", "employment type"},
	"income month": {"monthly income", "income per month", "income pm", "monthly salary", "income", "salary pm", "nettoeinkommen",
		"monatliches einkommen", "monatseinkommen", "monatl einkommen", "einkommen", "net monthly income", "gehalt"},
	"dependants": {"dependents", "no of dependants", "number of dependants", "no of dependents", "children", "no of children",
		"number of children", "kinder", "anzahl kinder", "unterhaltsberechtigte"},
	"consent contact": {"consent to contact", "consent", "contact consent", "opt in", "optin", "opted in", "marketing consent",
		"marketing opt in", "ok to contact", "may contact", "may we contact you", "einwilligung", "einwilligung kontakt",
		"kontakterlaubnis", "zustimmung", "kontakt erlaubt"},
	"consent gdpr": {"gdpr consent", "opt in gdpr", "gdpr opt in", "gdpr", "dsgvo", "einwilligung dsgvo"},
	"notes": {"note", "comments", "comment", "remark", "remarks", "bemerkung", "bemerkungen", "notiz", "notizen", "anmerkung",
		"anmerkungen", "hinweise"},
	"source": {"lead source", "quelle", "herkunft", "source of lead", "campaign source"},
	"contact preferred": {"preferred contact", "contact preference", "contact method", "preferred contact method",
		"preferred method of contact", "bevorzugter kontakt", "kontaktweg", "bevorzugter kontaktweg", "kontaktart"},
	"commission told": {"told of commission", "told about commission", "commission disclosed", "commission explained",
		"provision offengelegt"},
	"bought new":                {"new", "new car", "new vehicle", "neuwagen", "neu gekauft", "neufahrzeug"},
	"terms accepted":            {"accepted terms", "t cs accepted", "agb akzeptiert", "agb"},
	"joint account":             {"joint acc", "gemeinschaftskonto"},
	"gender":                    {"sex", "geschlecht"},
	"country":                   {"land", "staat"},
	"nationality":               {"staatsangehoerigkeit", "nationalitaet"},
	"insurance national number": {"ni number", "ni no", "nino", "national insurance number", "national insurance no"},
}

// akin are meanings that are often used for each other: where the first is asked for, the second may be a question.
var akin = [][2]string{{"agreement date", "agreement signed"}, {"agreement signed", "agreement date"}, {"agreement signed", "agreement start"},
	{"agreement start", "agreement signed"}, {"agreement date", "agreement start"}, {"agreement start", "agreement date"}}

// fillers say nothing: they are left out when names are compared.
var fillers = []string{"of", "the", "a", "at", "on", "in", "to", "for", "is", "your", "der", "die", "das", "des", "am", "im", "und",
	"and", "von", "please"}

// abbreviations are single words that stand for another one in any name.
var abbreviations = map[string]string{"no": "number", "nr": "number", "num": "number", "nummer": "number", "tel": "phone",
	"telephone": "phone", "telefon": "phone", "addr": "address", "adresse": "address", "adress": "address", "datum": "date",
	"dt": "date", "betrag": "amount", "amt": "amount", "ref": "reference", "mth": "month", "mths": "months", "kunde": "client",
	"kunden": "client", "customer": "client", "haendler": "dealer", "ehepartner": "partner", "spouse": "partner", "prev": "previous",
	"zins": "interest", "zinsen": "interest", "vermittler": "broker", "frueher": "previous", "frueherer": "previous"}

// neutral words name what a sheet of leads is about anyway: “Loan amount” may well be the amount.
var neutral = []string{"client", "applicant", "claimant", "lead", "main", "borrower", "primary", "current", "antragsteller", "loan",
	"credit", "kredit", "darlehen", "agreement", "contract", "finance", "vehicle", "car", "fahrzeug", "auto", "details", "contact"}

// others are words that name another person or thing: “Dealer address” is not the address. Negations are among them.
var others = []string{"partner", "wife", "husband", "joint", "second", "secondary", "co", "dealer", "employer", "arbeitgeber", "broker",
	"makler", "solicitor", "anwalt", "introducer", "referrer", "adviser", "advisor", "handler", "owner", "staff", "parent", "mother",
	"father", "child", "friend", "kin", "previous", "former", "maiden", "old", "alt", "alte", "emergency", "guarantor", "buerge",
	"witness", "agent", "work", "business", "not", "without", "out", "ohne", "kein", "keine", "nicht", "never", "expires", "expired",
	"bank", "account", "landline", "2", "3", "4", "5", "6", "7", "8", "9"}

// generic words mean nothing alone.
var generic = []string{"number", "date", "name", "id", "type", "status", "reference", "row", "code", "month", "months"}

// codes are words for what has digits and is no amount, count or date.
var codes = []string{"number", "id", "reference", "code", "postcode", "sortcode", "phone", "mobile", "landline", "registration",
	"account", "iban"}

// ambiguous words mean one thing alone, and may mean another among other words: a bank account is no lender.
var ambiguous = []string{
	"name", "no", "nr", "number", "id", "row", "pos", "value", "sum", "bank", "new", "account", "agreement", "contract",
	"policy", "vertrag", "konto", "police", "ref", "reference", "consent", "term", "months", "price", "mail", "born", "geb",
	"interest", "start", "miles", "kilometer", "gdpr", "signed", "income", "mobile", "cell", "tel", "phone", "telephone",
	"telefon", "mileage", "land", "title", "model", "make", "source", "street", "address", "addr", "adresse", "amount", "amt",
	"betrag", "nummer", "sex", "first", "last",
}

// ofPeople are words of columns that say something about the client, not about a claim.
var ofPeople = []string{"title", "first", "last", "full", "birth", "address", "street", "house", "locality", "town", "county",
	"postcode", "email", "phone", "mobile", "landline", "consent", "contact", "employment", "income", "dependants", "gender",
	"nationality", "insurance", "sortcode", "iban", "holder", "account", "source"}

// severalOfPeople are words for what people have several of: address lines, phone numbers, names. Such columns are no claims, though
// their headers are numbered, and the first of them is the client's.
var severalOfPeople = []string{"address", "line", "street", "phone", "mobile", "landline", "email", "first", "last", "full", "locality",
	"town", "postcode", "title", "birth", "notes", "comment", "applicant", "client", "claimant", "borrower"}

// numberNames are the names of columns that number the clients, the rows or the agreements of a sheet, in the order in which they
// are tried as a key of clients; claimNumbers number claims, the likeliest first.
var (
	numberNames = []string{"client number", "lead number", "reference", "agreement number", "policy number", "claim number",
		"account number", "number row"}
	claimNumbers = []string{"agreement number", "policy number", "claim number", "account number"}
)

// emptyWords are texts that people write into cells that are empty, in lower case. Words that may be an answer, such as none or
// unknown, are not among them.
var emptyWords = []string{"n/a", "n.a.", "n.a", "#n/a", "-", "--", "---", "–", "—", "tbc", "tba", "tbd", "null", "k.a.", "k. a.", "?", "??",
	"not available", "keine angabe", "keine angaben", "(blank)", "(leer)"}

// wordPairs are words that tick a check box, each with its opposite. The first usualPairs are those that a mapping need not list.
var wordPairs = [][2]string{{"yes", "no"}, {"y", "n"}, {"true", "false"}, {"1", "0"}, {"x", "no"}, {"ja", "nein"}, {"j", "n"},
	{"wahr", "falsch"}, {"opted in", "opted out"}}

const usualPairs = 5

// spelling writes a name without accents, and marks as words.
var spelling = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "ê", "e", "á", "a", "à", "a", "ç",
	"c", "ñ", "n", "ó", "o", "í", "i", "ú", "u", "(s)", "s", "#", " number ", "'s ", " ", "’s ", " ")

// howToFill is what headers say of the cells below and not of their meaning: “Opt in (Y/N)”, “DOB (dd/mm/yyyy)”.
var howToFill = regexp.MustCompile(`\b(y|yes) ?(/|or) ?(n|no)\b|\b(dd?[-/. ]mm?|mm?[-/. ]dd?|yy(yy)?[-/. ]mm?)([-/. ](yy(yy)?|dd?))?\b`)
