package cli

import (
	"fmt"
	"io"

	"claimsheet/apiclient"
	"claimsheet/reports"
)

// mostUnknown is how many kinds of unexplained answers are printed; the
// workbook has them all.
const mostUnknown = 10

// sayUnknown lists the answers that no rule of the environment explains, each
// with a rule to begin with.
func sayUnknown(w io.Writer, list []apiclient.Unknown) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "Answers that none of the environment's errors rules explains:")
	for i, u := range list {
		if i == mostUnknown {
			fmt.Fprintf(w, "  … and %d more, in the sheet Summary of the results workbook\n", len(list)-i)
			break
		}
		fmt.Fprintln(w, "  "+oneLine(unknownText(u)))
		fmt.Fprintln(w, "    - "+oneLine(u.Rule()))
	}
	fmt.Fprintln(w, "If the service's operator says that one means something else (retry, failed, done, stop, uncertain), add its line to errors.")
}

func unknownText(u apiclient.Unknown) string {
	return fmt.Sprintf("%d × %s to %s, taken as %s", u.Count, u.Shape, u.Route, u.Means)
}

// unknownFacts are the same for the workbook's sheet Summary.
func unknownFacts(list []apiclient.Unknown) []reports.Fact {
	var facts []reports.Fact
	for _, u := range list {
		facts = append(facts, reports.Fact{Label: "Unexplained answer", Text: unknownText(u) + "; as a rule: " + u.Rule()})
	}
	return facts
}
