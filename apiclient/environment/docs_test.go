package environment

import (
	"flag"
	"testing"

	"claimsheet/importer/testform"
)

var updateDocs = flag.Bool("update-docs", false, "write the reference in docs/environments.md again")

// TestReference compares the reference in docs/environments.md with the tables of
// keys that the parser reads by.
func TestReference(t *testing.T) {
	testform.Reference(t, "../../docs/environments.md", *updateDocs,
		testform.Section("### The file", fileKeys)+
			testform.Section("### An environment", environmentKeys)+
			testform.Section("### auth", authKeys)+
			testform.Section("### tls", tlsKeys)+
			testform.Section("### proxy", proxyKeys)+
			testform.Section("### limits", limitKeys)+
			testform.Section("### wire", wireKeys)+
			testform.Section("### not_found, each rule", absenceKeys)+
			testform.Section("### errors, each rule", ruleKeys)+
			testform.Section("### tracking", trackingKeys)+
			testform.Section("### tracking.webhook", webhookKeys)+
			"\n### tracking.export\n\nThe keys `events` to `time` of tracking.webhook.\n"+
			testform.Section("### tracking.completed", completedKeys)+
			testform.Section("### claim_types, each entry", claimTypeKeys))
}
