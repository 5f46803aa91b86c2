package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
	"claimsheet/mapping"
)

// TestDocumentedFiles reads every mapping and environments file that the
// documentation shows.
func TestDocumentedFiles(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	mappings, environments := 0, 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		if filepath.Base(page) == "problems.md" {
			continue // fragments, bad ones among them; the tests of explain run them
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlocks(string(data)) {
			switch {
			case strings.Contains(block, "kind: "): // a manifest; see TestUnits
			case strings.Contains(block, "api: "):
				mappings++
				if _, found := mapping.Parse(page, []byte(block)); len(found) > 0 {
					t.Errorf("%s: a mapping has problems:\n%v", page, found)
				}
			case strings.Contains(block, "environments:"):
				environments++
				path := filepath.Join(t.TempDir(), "environments.yaml")
				write(t, path, block)
				if _, err := environment.Load(path); err != nil {
					t.Errorf("%s: an environments file has problems:\n%v", page, err)
				}
			default:
				t.Errorf("%s: a block of YAML is neither a mapping nor an environments file:\n%s", page, block)
			}
		}
	}
	if mappings == 0 || environments == 0 {
		t.Errorf("%d mappings and %d environments files found in the documentation", mappings, environments)
	}
}

// TestReadmeMapping: the mapping that the README explains is the one of the first sample,
// which it runs.
func TestReadmeMapping(t *testing.T) {
	t.Parallel()
	blocks := yamlBlocks(readText(t, filepath.Join(root, "README.md")))
	if sample := readText(t, filepath.Join(root, "samples", "first", "mapping.yaml")); !slices.Contains(blocks, strings.TrimSuffix(sample, "\n")) {
		t.Errorf("the README does not show this mapping:\n%s", sample)
	}
}

// TestDocsIndex: docs/README.md leads to every page.
func TestDocsIndex(t *testing.T) {
	t.Parallel()
	index := readText(t, filepath.Join(root, "docs", "README.md"))
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	must(t, err)
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

func yamlBlocks(page string) []string {
	var blocks []string
	for i, part := range strings.Split(page, "\n```") {
		if code, ok := strings.CutPrefix(part, "yaml\n"); ok && i > 0 {
			blocks = append(blocks, code)
		}
	}
	return blocks
}

// TestSandboxConstants holds two packages that may not import each other to
// the same case.
func TestSandboxConstants(t *testing.T) {
	t.Parallel()
	if environment.SandboxCaseID != sandbox.CaseID {
		t.Errorf("the environment's case %s is not the sandbox's %s", environment.SandboxCaseID, sandbox.CaseID)
	}
}
