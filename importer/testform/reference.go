package testform

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"claimsheet/mapping/problem/yamltree"
)

// Reference compares a page, from the line on that ends with "-run Reference
// -update-docs`.", with the reference that the key tables give. With update it writes that
// part of the page again.
func Reference(t *testing.T, path string, update bool, want string) {
	t.Helper()
	const marker = "-run Reference -update-docs`.\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, got, ok := strings.Cut(string(data), marker)
	switch {
	case !ok:
		t.Fatalf("%s has no line that ends with %q", path, marker)
	case update:
		if err := os.WriteFile(path, []byte(page+marker+want), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("%s is not what the key tables say; run this test with -update-docs", path)
	}
}

// Section returns the section of a reference for a table of keys, in Markdown.
func Section[T any](heading string, table func(*yamltree.Keys, *T)) string {
	var keys yamltree.Keys
	table(&keys, new(T))
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n", heading)
	for _, k := range keys {
		required := ""
		if k.IsRequired {
			required = " (required)"
		}
		fmt.Fprintf(&b, "- `%s`: %s%s\n", k.Name, k.Doc, required)
	}
	return b.String()
}
