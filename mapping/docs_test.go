package mapping

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"claimsheet/mapping/problem/yamltree"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/mapping.md again")

// TestReference holds docs/mapping.md to the tables of keys that the parser
// reads by, so that the reference cannot say anything else.
func TestReference(t *testing.T) {
	const path = "../docs/mapping.md"
	want := reference()
	if *updateDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/mapping.md is not what the key tables say; run go test ./mapping -run Reference -update-docs")
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString("# The mapping file, key by key\n\n" +
		"Made from the tables that the parser reads by: `go test ./mapping -run Reference -update-docs`.\n")
	section(&b, "The mapping", mappingKeys)
	section(&b, "sheet", sheetKeys)
	section(&b, "sheet.numbers", numberKeys)
	section(&b, "client", clientKeys)
	section(&b, "client.lookup", lookupKeys)
	section(&b, "claims, each entry", claimKeys)
	section(&b, "claims, name with values", nameKeys)
	section(&b, "workflow", workflowKeys)
	section(&b, "resume_at, when it is a column", resumeKeys)
	section(&b, "activities, each entry", activityKeys)
	section(&b, "Values: client fields, look-ups and attributes", valueKeys)
	b.WriteString("\nA value needs exactly one of column, value, text, first_of and expr; a bare text is a column.\n" +
		"The types are " + strings.Join(typeNames(), ", ") + ".\n")
	return b.String()
}

func section[T any](b *strings.Builder, title string, keys []yamltree.Key[T]) {
	fmt.Fprintf(b, "\n## %s\n\n| key | meaning |\n|---|---|\n", title)
	for _, f := range keys {
		required := ""
		if f.IsRequired {
			required = " (required)"
		}
		fmt.Fprintf(b, "| `%s` | %s%s |\n", f.Name, strings.ReplaceAll(f.Doc, "|", "\\|"), required)
	}
}
