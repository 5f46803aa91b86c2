package cli_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.." // the module's folder

// arrows are the imports that our packages may have among themselves. Any package may import mapping/problem.
var arrows = map[string][]string{
	".":                       {"importer/cli"},
	"mapping/problem":         {},
	"mapping/cell":            {},
	"mapping/convert":         {"mapping/cell"},
	"mapping/expr":            {"mapping/cell", "mapping/convert"},
	"mapping/yamlpatch":       {"mapping/problem/yamltree"},
	"mapping/draft":           {"mapping", "mapping/cell", "mapping/convert", "mapping/problem/yamltree"},
	"mapping":                 {"mapping/cell", "mapping/convert", "mapping/expr", "mapping/problem/yamltree"},
	"apiclient":               {},
	"apiclient/tracking":      {"apiclient", "importer/safefile"},
	"apiclient/environment":   {"apiclient", "apiclient/tracking", "importer/safefile", "mapping/problem/yamltree"},
	"apiclient/sandbox":       {},
	"apiclient/serve":         {},
	"apiclient/sandbox/fault": {},
	"importer":                {"mapping", "mapping/cell", "mapping/convert", "apiclient", "importer/ledger", "importer/journal", "importer/result", "importer/spool", "importer/safefile"},
	"importer/result":         {},
	"importer/rerun":          {"mapping", "mapping/cell", "importer/ledger", "importer/result", "importer/settle"},
	"importer/settle":         {"importer/ledger"},
	"importer/journal":        {"importer/ledger", "importer/safefile"},
	"importer/spool":          {"importer/result", "mapping/cell"},
	"importer/safefile":       {},
	"importer/ledger":         {"importer/result", "importer/safefile"},
	"importer/testform":       {"mapping/problem/yamltree"}, // in tests only
	"apiclient/apitest":       {},
	"importer/cli": {"mapping", "mapping/draft", "mapping/cell", "apiclient", "apiclient/environment", "apiclient/sandbox", "apiclient/sandbox/fault", "apiclient/serve", "apiclient/tracking", "importer/cli/console", "importer/cli/load",
		"importer/cli/probe", "importer/cli/studio", "importer/cli/workbook",
		"importer", "importer/journal", "importer/rerun", "importer/settle", "importer/result", "importer/sheet", "importer/spool", "importer/ledger", "importer/ledger/postgres", "importer/dispatch", "importer/safefile", "reports"},
	"importer/cli/load": {"mapping", "mapping/cell", "mapping/convert", "apiclient", "apiclient/environment", "apiclient/sandbox", "importer",
		"importer/cli/workbook", "importer/journal", "importer/ledger", "importer/ledger/postgres", "importer/sheet", "importer/spool", "importer/safefile"},
	"importer/cli/probe": {"mapping", "mapping/cell", "apiclient", "importer", "importer/cli/load", "importer/journal", "importer/ledger",
		"importer/spool"},
	"importer/cli/workbook": {"mapping", "mapping/cell", "importer/rerun", "importer/result", "importer/sheet", "importer/safefile", "reports"},
	"importer/cli/console":  {"apiclient", "apiclient/environment", "importer", "importer/cli/load", "importer/result", "importer/safefile"},
	"importer/cli/studio": {"mapping", "mapping/cell", "mapping/convert", "mapping/draft", "mapping/yamlpatch", "apiclient", "apiclient/serve", "importer", "importer/cli/load", "importer/cli/workbook",
		"importer/safefile", "importer/sheet", "importer/spool"},
	"reports":      {"importer/result", "importer/safefile", "importer/sheet", "mapping/cell", "reports/xlsx"},
	"reports/xlsx": {"mapping/cell"},

	"importer/ledger/postgres":        {"importer/ledger"},
	"importer/ledger/postgres/pgtest": {},
	"importer/dispatch":               {"importer", "importer/ledger", "importer/ledger/postgres"},

	"importer/sheet":           {"mapping/cell", "importer/safefile", "importer/sheet/xlsx"},
	"importer/sheet/xlsx":      {"mapping/cell", "importer/sheet/numfmt"},
	"importer/sheet/numfmt":    {},
	"importer/sheet/sheettest": {"mapping/cell"},

	"mapping/problem/yamltree": {},
}

// doors are the packages through which a library comes in.
var doors = map[string][]string{
	"github.com/xuri/excelize/v2":     {"importer/sheet/xlsx", "reports/xlsx"},
	"github.com/richardlehane/mscfb":  {"importer/sheet/xlsx"},
	"github.com/klauspost/compress":   {"importer/sheet/xlsx", "reports/xlsx"},
	"golang.org/x/text/encoding":      {"importer/sheet"},
	"golang.org/x/text/transform":     {"importer/sheet"},
	"github.com/urfave/cli/v2":        {"importer/cli"},
	"github.com/cheggaaa/pb/v3":       {"importer/cli/console"},
	"github.com/mattn/go-isatty":      {"importer/cli/console"},
	"go.yaml.in/yaml/v4":              {"mapping/problem/yamltree", "mapping/yamlpatch"},
	"modernc.org/sqlite":              {"importer/ledger"},
	"database/sql":                    {"importer/ledger", "importer/ledger/postgres"},
	"github.com/jackc/pgx/v5":         {"importer/ledger/postgres", "importer/dispatch"},
	"github.com/riverqueue/river":     {"importer/dispatch"},
	"github.com/gofrs/flock":          {"importer/safefile"},
	"github.com/cenkalti/backoff/v5":  {"apiclient"},
	"github.com/expr-lang/expr":       {"mapping/expr"},
	"github.com/nyaruka/phonenumbers": {"mapping/convert"},
	"github.com/shopspring/decimal":   {"mapping/convert"},
	"github.com/tidwall/gjson":        {"apiclient"},
	"github.com/xrash/smetrics":       {"mapping/problem"},
	"github.com/rogpeppe/go-internal": {"importer/cli/studio"},
	"golang.org/x/net/idna":           {"mapping/convert"},
	"golang.org/x/text/unicode/norm":  {"mapping/convert"},
	"golang.org/x/oauth2":             {"apiclient/environment"},
	"golang.org/x/sync/errgroup":      {"importer"},
	"golang.org/x/sync/singleflight":  {"apiclient/environment", "importer"},
	"github.com/google/go-cmp/cmp":    {"importer/testform"},
	"github.com/google/uuid":          {"apiclient", "apiclient/sandbox", "importer/cli"},
	"html/template":                   {"apiclient/sandbox"},
	"net/http":                        {"apiclient", "apiclient/environment", "apiclient/sandbox", "apiclient/sandbox/fault", "apiclient/serve", "apiclient/tracking", "apiclient/apitest", "importer/cli/studio"},
}

// TestArrows reads the imports of every file that is built into the program.
func TestArrows(t *testing.T) {
	t.Parallel()
	for file, imports := range sources(t) {
		pkg := filepath.ToSlash(filepath.Dir(file))
		allowed, known := arrows[pkg]
		if !known {
			t.Errorf("%s: the package %s has no place in the layout", file, pkg)
		}
		for _, path := range imports {
			ours, isOurs := strings.CutPrefix(path, "claimsheet/")
			switch {
			case isOurs && ours != "mapping/problem" && !slices.Contains(allowed, ours):
				t.Errorf("%s: %s may not import %s", file, pkg, ours)
			case !isOurs && !throughItsDoor(pkg, path):
				t.Errorf("%s: %s does not come in through %s", file, path, pkg)
			}
		}
	}
}

// throughItsDoor reports whether a package may import a library: one of the standard library's that has no door, or its
// own.
func throughItsDoor(pkg, path string) bool {
	for library, packages := range doors {
		if path == library || strings.HasPrefix(path, library+"/") {
			return slices.Contains(packages, pkg)
		}
	}
	return !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
}

// TestTopLevel keeps the top folder to what a newcomer expects there.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	want := []string{"CHANGELOG.md", "LICENSE", "README.md", "apiclient", "docs", "go.mod", "go.sum", "importer", "main.go", "mapping", "reports", "samples"}
	entries, err := os.ReadDir(root)
	must(t, err)
	ignored := strings.Fields(readText(t, filepath.Join(root, ".gitignore"))) // such as the program, once it is built
	for _, e := range entries {
		if !slices.Contains(ignored, "/"+e.Name()) && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(want, e.Name()) {
			t.Errorf("%s does not belong at the top", e.Name())
		}
	}
}

// TestFileSizes keeps files to one idea.
func TestFileSizes(t *testing.T) {
	t.Parallel()
	for file := range sources(t) {
		most := 800
		if file == "main.go" {
			most = 25
		}
		if lines := strings.Count(readText(t, filepath.Join(root, file)), "\n"); lines > most {
			t.Errorf("%s has %d lines, more than %d", file, lines, most)
		}
	}
}

// sources are the Go files of the module, without tests, with their imports.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && d.IsDir() && name != ".." && strings.HasPrefix(name, ".") {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files[rel] = []string{}
		for _, imported := range parsed.Imports {
			files[rel] = append(files[rel], strings.Trim(imported.Path.Value, `"`))
		}
		return err
	}))
	if len(files) < 50 {
		t.Fatalf("only %d files found: the test looks in the wrong folder", len(files))
	}
	return files
}
