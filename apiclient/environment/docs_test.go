package environment

import (
	"flag"
	"testing"

	"claimsheet/mapping/problem/yamltree/yamltest"
)

var updateDocs = flag.Bool("update-docs", false, "write the reference in docs/environments.md again")

// TestReference compares the reference in docs/environments.md with the tables of
// keys that the parser reads by.
func TestReference(t *testing.T) {
	yamltest.Reference(t, "../../docs/environments.md", *updateDocs,
		yamltest.Section("### The file", fileKeys)+
			yamltest.Section("### An environment", environmentKeys)+
			yamltest.Section("### auth", authKeys)+
			yamltest.Section("### tls", tlsKeys)+
			yamltest.Section("### proxy", proxyKeys)+
			yamltest.Section("### limits", limitKeys)+
			yamltest.Section("### wire", wireKeys)+
			yamltest.Section("### not_found, each rule", absenceKeys)+
			yamltest.Section("### errors, each rule", ruleKeys)+
			yamltest.Section("### tracking", trackingKeys)+
			yamltest.Section("### tracking.webhook", webhookKeys)+
			"\n### tracking.export\n\nThe keys `events` to `time` of tracking.webhook.\n"+
			yamltest.Section("### tracking.completed", completedKeys)+
			yamltest.Section("### claim_types, each entry", claimTypeKeys))
}
