package samples

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	callsBlock = regexp.MustCompile("(?s)<!-- calls: ([a-z0-9-]+) -->\n\n```\n(.*?)```")
	call       = regexp.MustCompile(`(?m)^POST \S*/(clients|contacts|claims|activities|magic-link)(\?claimId)?[^“\n]*(“[^”]+”)?`)
)

// TestFlowsPage: docs/flows.md names each sample, and the calls that it shows are in the order in
// which a client of the sample makes them; see checkFlow.
func TestFlowsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/flows.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t) {
		if !strings.Contains(string(page), "`samples/"+name+"`") {
			t.Errorf("docs/flows.md does not name samples/%s", name)
		}
	}
	blocks := callsBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 2 {
		t.Errorf("docs/flows.md shows the calls of %d samples", len(blocks))
	}
	for _, block := range blocks {
		var flow []string
		for _, c := range call.FindAllStringSubmatch(block[2], -1) {
			step := map[string]string{"clients": "client", "contacts": "client", "claims": "claim", "activities": c[3], "magic-link": "magic link"}[c[1]]
			if c[2] != "" {
				step += " on claim"
			}
			flow = append(flow, step)
		}
		if want := readExpected(t, block[1]).Flows; want[strings.Join(flow, ", ")] == 0 {
			t.Errorf("docs/flows.md shows %q for samples/%s, and its clients have %v", flow, block[1], want)
		}
	}
}
