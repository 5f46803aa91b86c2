package environment

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient/tracking"
	"claimsheet/mapping/problem/yamltree"
)

var updateDocs = flag.Bool("update-docs", false, "write the reference in docs/environments.md again")

// TestReference compares the reference in docs/environments.md with the tables of
// keys that the parser reads by.
func TestReference(t *testing.T) {
	const path, marker = "../../docs/environments.md", "-run Reference -update-docs`.\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, got, ok := strings.Cut(string(data), marker)
	if !ok {
		t.Fatalf("%s has no line that ends with %q", path, marker)
	}
	want := referencePage()
	if *updateDocs {
		if err := os.WriteFile(path, []byte(page+marker+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Error("docs/environments.md is not what the key tables say; run go test ./apiclient/environment -run Reference -update-docs")
	}
}

func referencePage() string {
	var b strings.Builder
	section(&b, "The file", language.Keys)
	section(&b, "An environment", environmentKeys)
	section(&b, "auth", authKeys)
	section(&b, "tls", tlsKeys)
	section(&b, "proxy", proxyKeys)
	section(&b, "limits", limitKeys)
	section(&b, "wire", wireKeys)
	section(&b, "not_found, each rule", absenceKeys)
	section(&b, "errors, each rule", ruleKeys)
	section(&b, "tracking", trackingKeys)
	section(&b, "tracking.webhook", webhookKeys)
	section(&b, "tracking.export", eventKeys(func(f *tracking.Format) *tracking.Format { return f }))
	section(&b, "tracking.completed", completedKeys)
	section(&b, "claim_types, each entry", claimTypeKeys)
	return b.String()
}

func section[T any](b *strings.Builder, title string, keys []yamltree.Key[T]) {
	fmt.Fprintf(b, "\n### %s\n\n| key | meaning |\n|---|---|\n", title)
	for _, k := range keys {
		required := ""
		if k.IsRequired {
			required = " (required)"
		}
		fmt.Fprintf(b, "| `%s` | %s%s |\n", k.Name, strings.ReplaceAll(k.Doc, "|", "\\|"), required)
	}
}
