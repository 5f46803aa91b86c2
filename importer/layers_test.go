package importer_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/testform"
)

// TestLayers: each file of the package uses only those that stand before it in doc.go.
func TestLayers(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t) // it compiles what the package imports
	doc, err := os.ReadFile("doc.go")
	must(t, err)
	var order []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(\w+\.go) `).FindAllSubmatch(doc, -1) {
		order = append(order, string(m[1]))
	}
	listed, err := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}}={{.Export}}", ".").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(listed)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range order {
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		must(t, err)
		parsed = append(parsed, f)
	}
	all, _ := filepath.Glob("*.go")
	for _, name := range all {
		if !strings.HasSuffix(name, "_test.go") && name != "doc.go" && !slices.Contains(order, name) {
			t.Errorf("doc.go does not name %s", name)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("no export data of " + path)
		}
		data, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(data)), err
	})}
	if _, err := config.Check("claimsheet/importer", files, parsed, &info); err != nil {
		t.Fatal(err)
	}
	for use, of := range info.Uses {
		if !of.Pos().IsValid() || of.Pkg() == nil || of.Pkg().Path() != "claimsheet/importer" {
			continue
		}
		at, from := files.Position(use.Pos()), files.Position(of.Pos()).Filename
		if slices.Index(order, from) > slices.Index(order, at.Filename) {
			t.Errorf("%s uses %s of %s, which stands behind it in doc.go", at, use.Name, from)
		}
	}
}
