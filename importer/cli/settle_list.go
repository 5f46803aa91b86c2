package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// listDoubts prints what is uncertain; with anything in the list the command's
// exit code says so.
func (p *program) listDoubts(d *desk, doubts []importer.Doubt) {
	switch {
	case d.known == nil:
		fmt.Fprintf(p.Out, "nothing is uncertain: nothing was ever run here (there is no ledger in %s)\n", d.setup.state)
		return
	case len(doubts) == 0:
		fmt.Fprintln(p.Out, "nothing is uncertain")
		return
	}
	fmt.Fprintf(p.Out, "%s in the environment “%s”: created, perhaps, or not.\n", stepsAre(len(doubts), "uncertain"), d.setup.env.Name)
	fmt.Fprintln(p.Out, "Look for each in the service, then decide it with one of its command lines.")
	p.summary = &importer.Summary{}
	for _, doubt := range doubts {
		p.summary.Rows.Add(importer.Uncertain)
		fmt.Fprintln(p.Out)
		d.describe(p.Out, doubt)
	}
}

// describe prints one doubt. The client's key is the only personal data in it:
// without it nobody could tell whom to look for.
func (d *desk) describe(w io.Writer, doubt importer.Doubt) {
	fmt.Fprintf(w, "%d  %s of the client %s\n", doubt.Number, oneLine(doubt.StepID.Step), oneLine(doubt.Client))
	from := ""
	if doubt.Mapping != "" {
		from = "mapping " + doubt.Mapping + ", "
	}
	if _, caseID, v1 := strings.Cut(doubt.Environment, " case "); v1 {
		from += "case " + caseID + ", "
	}
	fmt.Fprintf(w, "   %ssince %s: %s\n", oneLine(from), doubt.At.Local().Format(time.DateTime), oneLine(whyUncertain(doubt)))
	fmt.Fprintf(w, "   %s\n", oneLine(whatToLookFor(doubt)))
	number := fmt.Sprint(doubt.Number)
	created := []string{"settle", "--created", "ID", number}
	switch {
	case doubt.Kind == ledger.KindLink:
		created[2] = "URL"
	case doubt.Kind == ledger.KindActivity && !d.needsActivityIDs():
		created = []string{"settle", "--created", number}
	}
	for _, words := range [][]string{created, {"settle", "--not-created", number}, {"settle", "--give-up", number}} {
		fmt.Fprintf(w, "   %s\n", d.where.command(words...))
	}
}

// whyUncertain is the reason, with the HTTP status where the reason does not
// tell it.
func whyUncertain(doubt importer.Doubt) string {
	status := fmt.Sprintf("HTTP %d", doubt.Event.Status)
	if doubt.Event.Status == 0 || strings.Contains(doubt.Reason, status) {
		return doubt.Reason
	}
	return status + ", " + doubt.Reason
}

// whatToLookFor leads to where in the service the thing would be.
func whatToLookFor(doubt importer.Doubt) string {
	client := "of the client"
	if doubt.ClientID != "" {
		client += " " + doubt.ClientID
	}
	switch doubt.Kind {
	case ledger.KindClaim:
		return "look for this claim among those " + client
	case ledger.KindLink:
		return "a link cannot be looked up; unless somebody has its url, decide --not-created, and the next run asks for a fresh one"
	case ledger.KindActivity:
		what := "look for the activity"
		if doubt.Template != "" {
			what += " “" + doubt.Template + "” (" + doubt.Status + ")"
		}
		if doubt.ClaimID != "" {
			return what + " on the claim " + doubt.ClaimID + " " + client
		}
		return what + " " + client
	}
	if doubt.To == ledger.Parked {
		return "look for the client; or run again ten minutes later or more: that looks the client up and decides by itself"
	}
	return "look for the client, by this key or by name"
}
