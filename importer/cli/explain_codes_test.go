package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"

	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claimsheet/importer/cli/explain"
)

// codeArguments are the functions that take the code of a problem, with its place among
// the arguments.
var codeArguments = map[string]int{
	"problem.New": 0, "problem.At": 1, "Wrong": 1, "WrongAt": 1, "wrongAt": 1,
	"convert.refuse": 0, "refuseContact": 1, "refuseStateFolder": 1,
}

// otherCodes are functions whose parameter named code is not the code of a problem, or only
// compared with one.
var otherCodes = []string{"errorCode", "hasCode", "sarifRuleOf", "Lookup", "format"}

// notOurs are folders whose codes are no problem codes: those of the sandbox's answers and
// of number formats.
var notOurs = []string{"apiclient/sandbox", "apiclient/apitest", "importer/sheet/numfmt"}

// TestExplainCodes: every code that the program can show has an entry, and every entry is
// of a code that it can show.
func TestExplainCodes(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	var parsed []*ast.File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && (slices.Contains(notOurs, filepath.ToSlash(name)) || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		parsed = append(parsed, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c := codeReader{t: t, files: files, constants: map[string]string{}, shown: map[string]token.Position{}}
	for _, file := range parsed {
		c.declarations(file)
	}
	for _, file := range parsed {
		c.pkg = file.Name.Name
		ast.Inspect(file, c.visit)
	}
	explained := explain.Codes()
	for code, at := range c.shown {
		if !slices.Contains(explained, code) {
			t.Errorf("%s: [%s] has no entry in importer/cli/explain/entries", at, code)
		}
	}
	for _, code := range explained {
		if _, ok := c.shown[code]; !ok {
			t.Errorf("the entry %s is of a code that the program does not have", code)
		}
	}
}

// codeReader reads the codes out of the source.
type codeReader struct {
	t         *testing.T
	files     *token.FileSet
	constants map[string]string // of all packages, by their names
	pkg       string
	shown     map[string]token.Position
}

// declarations notes the constants of a file, and reports functions that take a code and
// are unknown here.
func (c *codeReader) declarations(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.CONST && len(s.Values) == len(s.Names) {
					for i, name := range s.Names {
						if text, ok := literal(s.Values[i]); ok {
							c.constants[name.Name] = text
						}
					}
				}
			}
		case *ast.FuncDecl:
			place := 0
			for _, field := range d.Type.Params.List {
				for _, name := range field.Names {
					known, ok := codeArguments[d.Name.Name]
					if !ok {
						known, ok = codeArguments[file.Name.Name+"."+d.Name.Name]
					}
					if name.Name == "code" && identName(field.Type) == "string" && (!ok || known != place) && !slices.Contains(otherCodes, d.Name.Name) {
						c.t.Errorf("%s: %s takes a code, and this test does not know it", c.files.Position(d.Pos()), d.Name.Name)
					}
					place++
				}
			}
		}
	}
}

func identName(e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// visit notes the codes of calls and of composite literals.
func (c *codeReader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := identName(n.Fun)
		if _, ok := codeArguments[name]; !ok {
			name = c.pkg + "." + name
		}
		if method, ok := n.Fun.(*ast.SelectorExpr); ok {
			if name = method.Sel.Name; identName(method.X) == "problem" {
				name = "problem." + name
			}
		}
		if at, ok := codeArguments[name]; ok && at < len(n.Args) {
			c.note(n.Args[at])
		}
	case *ast.CompositeLit:
		name := identName(n.Type)
		if s, ok := n.Type.(*ast.SelectorExpr); ok {
			name = s.Sel.Name
		}
		if name != "Problem" && name != "CellError" {
			break
		}
		for _, element := range n.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok && identName(pair.Key) == "Code" {
				c.note(pair.Value)
			}
		}
	}
	return true
}

// note notes the code that an expression is. A parameter, and the code of another problem,
// are noted where they are given.
func (c *codeReader) note(e ast.Expr) {
	text, ok := literal(e)
	switch e := e.(type) {
	case *ast.Ident:
		text, ok = c.constants[e.Name]
		if e.Name == "code" {
			return
		}
	case *ast.SelectorExpr:
		text, ok = c.constants[e.Sel.Name]
		if e.Sel.Name == "Code" {
			return
		}
	}
	if at := c.files.Position(e.Pos()); !ok {
		c.t.Errorf("%s: this test cannot read the code", at)
	} else if text != "" {
		c.shown[text] = at
	}
}
