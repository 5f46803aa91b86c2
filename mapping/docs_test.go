package mapping

import (
	"flag"
	"strings"
	"testing"

	"claimsheet/mapping/problem/yamltree/yamltest"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/mapping.md again")

// TestReference compares docs/mapping.md with the tables of keys that the parser reads by.
func TestReference(t *testing.T) {
	yamltest.Reference(t, "../docs/mapping.md", *updateDocs,
		yamltest.Section("## The mapping", mappingKeys)+
			yamltest.Section("## sheet", sheetKeys)+
			yamltest.Section("## sheet.numbers", numberKeys)+
			yamltest.Section("## client", clientKeys)+
			yamltest.Section("## client.lookup", lookupKeys)+
			yamltest.Section("## contacts, each entry", contactKeys)+
			yamltest.Section("## claims, each entry", claimKeys)+
			yamltest.Section("## claims, name with values", nameKeys)+
			yamltest.Section("## claims.administrator, as pairs", administratorKeys)+
			yamltest.Section("## workflow", workflowKeys)+
			yamltest.Section("## resume_at, when it is a column", resumeKeys)+
			yamltest.Section("## activities, each entry", activityKeys)+
			yamltest.Section("## Values: client fields, look-ups and attributes", valueKeys)+
			"\nA value needs exactly one of "+valueSources+"; a bare text is a column.\n"+
			"The types are "+strings.Join(typeNames(), ", ")+".\n"+
			"\nA comment line `# ignored: NAME` leaves that column out on purpose, without a warning. A column without a header, or with the header of\n"+
			"another, is named by its letter: `# ignored: column L`.\n")
}
