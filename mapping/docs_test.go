package mapping

import (
	"flag"
	"strings"
	"testing"

	"claimsheet/importer/testform"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/mapping.md again")

// TestReference compares docs/mapping.md with the tables of keys that the parser reads by.
func TestReference(t *testing.T) {
	testform.Reference(t, "../docs/mapping.md", *updateDocs,
		testform.Section("## The mapping", mappingKeys)+
			testform.Section("## sheet", sheetKeys)+
			testform.Section("## sheet.numbers", numberKeys)+
			testform.Section("## client", clientKeys)+
			testform.Section("## client.lookup", lookupKeys)+
			testform.Section("## contacts, each entry", contactKeys)+
			testform.Section("## claims, each entry", claimKeys)+
			testform.Section("## claims, name with values", nameKeys)+
			testform.Section("## claims.administrator, as pairs", administratorKeys)+
			testform.Section("## workflow", workflowKeys)+
			testform.Section("## resume_at, when it is a column", resumeKeys)+
			testform.Section("## activities, each entry", activityKeys)+
			testform.Section("## Values: client fields, look-ups and attributes", valueKeys)+
			"\nA value needs exactly one of column, value, text, join, first_of and expr; a bare text is a column.\n"+
			"The types are "+strings.Join(typeNames(), ", ")+".\n"+
			"\nA comment line `# ignored: NAME` leaves that column out on purpose, without a warning. A column without a header, or with the header of\n"+
			"another, is named by its letter: `# ignored: column L`.\n")
}
