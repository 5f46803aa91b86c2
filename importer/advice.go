package importer

import (
	"strings"

	"claimsheet/mapping"
)

// The texts of the column "What to do".
const (
	adviceRefused = "Correct the row or the mapping, then run again: only what is missing is sent."
	adviceReused  = "Claimsheet did not create this contact, and a claim's contact has to be an administrator: if the service says that this one is not, ask " +
		"its operator to make it one; else correct the row or the mapping. Then run again: only what is missing is sent."
	adviceNotAdministrator = "The claim's administrator was created with administrator: false: if that is why, have the service's operator make this contact an administrator, then run again."
	adviceNotSent          = "Nothing was sent. Run again when the service can be reached."
	adviceBusy             = "The service refused it for now only; there is nothing to correct. Run again later."
	adviceChanged          = "The service cannot change what it has: nothing was sent. Correct it there by hand if it matters."
	adviceHeld             = "Nothing was sent. Settle with the service's operator where the client is to resume."
	adviceHeldMapping      = "Nothing was sent. Take the mapping's change back, or settle with the service's operator what is to become of the client."
	adviceErasedContact    = "Take the contact out of the row, then run again; or settle with the service's operator what is to become of the claim."
	adviceGivenUp          = "This step was given up; what depends on it is not sent."
	adviceParked           = "It is not sent again yet; a run ten minutes from now or later looks the client up again and decides."
	adviceInvalid          = "Correct the cell and run again."
	adviceTimezone         = "Name the timezone of the sheet in the mapping (sheet: {timezone: …}) and run again."
	adviceWaits            = "Nothing was sent for this client. Correct the row that it waits for and run again."
	adviceStopped          = "Run again: it continues from here."
	adviceLookup           = "The service could not be asked whether it knows the client; nothing was sent. Run again."
	adviceWhoIsIt          = "Find out with the service's operator who this is; correct the row, or the client there."
	adviceTaken            = "If they are one person, give the rows one client key; if not, correct the address."
	adviceDoubtful         = "Nothing was sent. Decide about that client first, by a later run with its row or by claimsheet settle; then run again."
	hintTaken              = "If a wire pointer of the environment leads to the wrong place, correct it and run again: the answers are kept, and read again."
	adviceKnown            = "The service knows this client already, so nothing was created (existing: fail)."
	adviceSkipped          = "The service knows this client already, so the rows were left out (existing: skip)."
	adviceKnownIDChanged   = "Nothing was sent. The ledger's id stays, because something was created with it: put it into the cell, or empty the cell. If it is wrong, " +
		"ask the service's operator to correct what was sent to it."
	adviceKnownIDTwice   = "Nothing was sent. Look in the service whose id it is, and correct the cell."
	adviceKnownIDInDoubt = "An earlier attempt may have created a client or claim with another id. Decide about it first: claimsheet settle. If the sheet's id is the right one, give it with --created."
	adviceKnownIDRefused = "If the service does not know the id %s, which the sheet gives (known_id), put the right one into the cell. If there is none, empty the cell and withdraw the id " +
		"before you run again: claimsheet settle --undo \"%s\"."
	adviceOlderLink   = "The client's link is older than this claim, and the activity that it leads to may be completed by now: claimsheet link asks for a fresh one."
	adviceNoLinkV1    = "The client was known already: the service gives a redirect url only when it creates one."
	adviceURLLost     = "A look-up found the client after an attempt to create it: the service gives the redirect url only in the answer that creates one."
	adviceNoURL       = "The service's answer held no redirect url where wire.redirect_url points; correct that and run again."
	adviceURLPurged   = "The redirect url was purged; claimsheet link asks for a fresh one."
	adviceURLPurgedV1 = "The redirect url was purged; the service gives it only when it creates a client."
	adviceSameClaim   = "It is the same claim as row %s; its ids are shown."
)

// adviceUncertain says what to look for. The service cannot list claims or
// activities, so a person looks in its dashboard.
func adviceUncertain(step *mapping.Step) string {
	client := "the client"
	if step.Kind == mapping.ContactStep || step.Title != string(mapping.ClientStep) {
		client = "the contact “" + step.Title + "”"
	}
	what := map[mapping.StepKind]string{
		mapping.ClientStep:   client,
		mapping.ContactStep:  client,
		mapping.ClaimStep:    "the claim",
		mapping.ActivityStep: "the activity “" + step.Title + "”",
		mapping.LinkStep:     "the magic link",
	}[step.Kind]
	return "Look in the service whether " + what + " exists. It is not sent again until you decide: claimsheet settle."
}

// adviceWithoutURL is for a v1 client that a look-up found and that has no redirect
// url. attempted says that there was an attempt to create the client; read, that the
// attempt got an answer that could be read.
func adviceWithoutURL(attempted, read bool) string {
	switch {
	case read:
		return adviceNoURL
	case attempted:
		return adviceURLLost
	}
	return adviceNoLinkV1
}

// withHint puts the usual advice behind the hint about an answer.
func withHint(hint, usual string) string {
	switch {
	case hint == "":
		return usual
	case strings.ContainsAny(hint[len(hint)-1:], ".!?"):
		return hint + " " + usual
	}
	return hint + ". " + usual
}

// reasonWith is the reason that the ledger keeps for a step that is left open: with
// the hint, for whoever decides about the step on another day.
func reasonWith(reason, hint string) string {
	if hint == "" {
		return reason
	}
	return reason + "; " + hint
}
