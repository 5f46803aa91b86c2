package cli_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planEntry is where the engine gets one client's plan, and the parameter that it comes in by.
const planEntry, planParam = "importer.Job.runClient", "r"

// The longest walk of one client's plan: where it stands today, so that it only
// gets shorter.
const mostStays, mostPlaces, mostReturns = 133, 25, 108

// TestFigures prints what can be measured of the layout and holds it to what
// docs/decisions.md says of it: helpers stand in the file that uses them, no
// package but cli is a heap of files, and a reader who follows one client's plan
// through the engine does not get lost.
func TestFigures(t *testing.T) {
	t.Parallel()
	packages := loadModule(t)
	files, lines := 0, 0
	own, helpers := 0, 0
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		p := packages[path]
		l := p.lines()
		o, h := p.ownHelpers()
		files, lines, own, helpers = files+len(p.files), lines+l, own+o, helpers+h
		t.Logf("%-28s %3d files %6d lines, %3d of %3d unexported functions are used in their own file alone", path, len(p.files), l, o, h)
		if len(p.files) > 20 && path != "importer/cli" {
			t.Errorf("%s has %d files: a package of more than 20 holds more than one idea", path, len(p.files))
		}
	}
	share := 100 * own / helpers
	t.Logf("%d packages, %d files, %d lines; %d %% of the unexported functions are used in their own file alone", len(packages), files, lines, share)
	if share < 60 {
		t.Errorf("%d %% of the unexported functions are used in their own file alone, want 60: a helper stands in the file that uses it", share)
	}
	w := walkPlan(t, packages)
	t.Logf("one client's plan from %s on: %d stays in %d places, %d returns\n%s", planEntry, w.stays, len(w.visited), w.returns, strings.Join(w.route, "\n"))
	if w.stays > mostStays || len(w.visited) > mostPlaces || w.returns > mostReturns {
		t.Errorf("one client's plan makes %d stays in %d places with %d returns, more than %d, %d and %d", w.stays, len(w.visited), w.returns,
			mostStays, mostPlaces, mostReturns)
	}
}

// TestArchitectureNamesWhatIsThere: the page that says where to find what is wrong
// as soon as a file is renamed.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	page := readText(t, filepath.Join(root, "docs", "architecture.md"))
	places := regexp.MustCompile("`((?:mapping|apiclient|importer|reports)(?:/[a-z_/]+(?:\\.go)?)?)`").FindAllStringSubmatch(page, -1)
	if len(places) < 30 {
		t.Fatalf("only %d places found: the test looks for something else than the page has", len(places))
	}
	for _, p := range places {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(p[1]))); err != nil {
			t.Errorf("docs/architecture.md names %s, which is not there", p[1])
		}
	}
}

// modulePackage is a package of the module: its production files, type-checked.
type modulePackage struct {
	path  string // below the module
	names []string
	files []*ast.File
	fset  *token.FileSet
	info  *types.Info
}

// loadModule type-checks the packages of the module from source; what they import
// comes from the compiler's export data.
func loadModule(t *testing.T) map[string]*modulePackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Standard", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	exports, ours := map[string]string{}, []listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[l.ImportPath] = l.Export
		if l.ImportPath == "claimsheet" || strings.HasPrefix(l.ImportPath, "claimsheet/") {
			ours = append(ours, l)
		}
	}
	packages, fset := map[string]*modulePackage{}, token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, l := range ours {
		p := &modulePackage{path: strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, "claimsheet"), "/"), fset: fset,
			info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
		for _, name := range l.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.names, p.files = append(p.names, name), append(p.files, file)
		}
		conf := types.Config{Importer: compiled}
		if _, err := conf.Check(l.ImportPath, fset, p.files, p.info); err != nil {
			t.Fatal(err)
		}
		packages[p.path] = p
	}
	return packages
}

func (p *modulePackage) lines() (n int) {
	for _, f := range p.files {
		n += p.fset.File(f.Pos()).LineCount()
	}
	return n
}

// ownHelpers counts the unexported functions and methods, and those of them that
// no other file of the package names.
func (p *modulePackage) ownHelpers() (own, all int) {
	at := map[types.Object]int{} // the file of each
	for i, f := range p.files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && !d.Name.IsExported() && d.Name.Name != "init" && d.Name.Name != "main" {
				at[p.info.Defs[d.Name]] = i
			}
		}
	}
	elsewhere := map[types.Object]bool{}
	for i, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if home, helper := at[p.info.Uses[id]]; helper && home != i {
					elsewhere[p.info.Uses[id]] = true
				}
			}
			return true
		})
	}
	return len(at) - len(elsewhere), len(at)
}

// walk is the route of one value through the module.
type walk struct {
	t        *testing.T
	packages map[string]*modulePackage
	home     string                   // the package in which it begins
	bodies   map[string]*body         // by package, receiver and name
	fields   map[types.Object][]*body // what is put into fields that hold functions

	visited        map[string]bool // files, and other packages
	passed         map[*ast.FuncDecl]bool
	stays, returns int
	at             string // the last of them
	route          []string
}

// body is a function and where it stands.
type body struct {
	in   *modulePackage
	file string
	decl *ast.FuncDecl
}

// walkPlan follows a client's plan through the calls that pass it on, depth first
// and in the order of the source, each function once: the plan itself, its steps,
// and the module's own types that are made of them. Plain texts and numbers are not
// followed, and of another package only the door is seen: what it promises is read
// there. A stay begins where the plan comes into another file of the engine, or to
// another package, than the one before; a return is a stay where it has been.
func walkPlan(t *testing.T, packages map[string]*modulePackage) *walk {
	w := &walk{t: t, packages: packages, bodies: map[string]*body{}, fields: map[types.Object][]*body{}, visited: map[string]bool{}, passed: map[*ast.FuncDecl]bool{}}
	for path, p := range packages {
		for i, f := range p.files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					w.bodies[nameOf(p.info.Defs[d.Name].(*types.Func))] = &body{p, path + "/" + p.names[i], d}
				}
			}
		}
	}
	for path, p := range packages {
		for i, f := range p.files {
			w.noteFields(p, path+"/"+p.names[i], f)
		}
	}
	entry := w.bodies[planEntry]
	if entry == nil {
		t.Fatalf("there is no function %s: say in planEntry where the engine gets one client's plan", planEntry)
	}
	for _, field := range entry.decl.Type.Params.List {
		for _, name := range field.Names {
			if name.Name == planParam {
				w.home = entry.in.path
				w.enter(entry, map[types.Object]bool{entry.in.info.Defs[name]: true})
			}
		}
	}
	if w.stays == 0 {
		t.Fatalf("%s has no parameter %s: say in planParam by which one it gets the plan", planEntry, planParam)
	}
	return w
}

// noteFields notes the functions that a file puts into fields.
func (w *walk) noteFields(p *modulePackage, file string, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, ok := pair.Key.(*ast.Ident)
		field, isField := p.info.Uses[key].(*types.Var)
		if !ok || !isField {
			return true
		}
		switch v := pair.Value.(type) {
		case *ast.FuncLit:
			literal := &ast.FuncDecl{Name: key, Type: v.Type, Body: v.Body}
			w.fields[field] = append(w.fields[field], &body{p, file, literal})
		case *ast.SelectorExpr:
			if f, ok := p.info.Uses[v.Sel].(*types.Func); ok && w.bodies[nameOf(f)] != nil {
				w.fields[field] = append(w.fields[field], w.bodies[nameOf(f)])
			}
		}
		return true
	})
}

// nameOf is a function's package below the module, its receiver and its name.
func nameOf(f *types.Func) string {
	if f.Pkg() == nil {
		return f.Name()
	}
	name := strings.TrimPrefix(strings.TrimPrefix(f.Pkg().Path(), "claimsheet"), "/") + "."
	if recv := f.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			name += n.Obj().Name() + "."
		}
	}
	return name + f.Name()
}

// enter goes through a function into which values of the plan came. At the door
// of another package it turns back.
func (w *walk) enter(b *body, carried map[types.Object]bool) {
	name := b.decl.Name.Name + ", a function in a field"
	if f, ok := b.in.info.Defs[b.decl.Name].(*types.Func); ok {
		name = nameOf(f)
	}
	if w.passed[b.decl] {
		return
	}
	w.passed[b.decl] = true
	before := w.at
	if b.in.path != w.home {
		w.stay(b.in.path, name)
	} else {
		w.stay(b.file, name)
		w.pass(b, carried)
	}
	w.at = before
}

func (w *walk) stay(file, name string) {
	if file == w.at {
		return
	}
	w.at = file
	w.stays++
	if w.visited[file] {
		w.returns++
	}
	w.visited[file] = true
	w.route = append(w.route, fmt.Sprintf("  %3d %s (%s)", w.stays, file, name))
}

// pass follows the calls of a function, in the order of the source.
func (w *walk) pass(b *body, carried map[types.Object]bool) {
	info := b.in.info
	carries := func(e ast.Node) (found bool) {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && carried[info.Uses[id]]
			return !found
		})
		return found
	}
	ast.Inspect(b.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if slices.ContainsFunc(n.Rhs, func(e ast.Expr) bool { return carries(e) }) {
				for _, l := range n.Lhs {
					w.carry(info, l, carried)
				}
			}
		case *ast.RangeStmt:
			if carries(n.X) {
				w.carry(info, n.Key, carried)
				w.carry(info, n.Value, carried)
			}
		case *ast.CallExpr:
			w.call(b, n, carries)
		}
		return true
	})
}

// carry notes a variable to which a value of the plan is given, when its type is
// one of the module's own.
func (w *walk) carry(info *types.Info, e ast.Expr, carried map[types.Object]bool) {
	id, ok := e.(*ast.Ident)
	if !ok {
		return
	}
	obj := info.Defs[id]
	if obj == nil {
		obj = info.Uses[id]
	}
	if obj != nil && isOurs(obj.Type()) {
		carried[obj] = true
	}
}

// isOurs reports that a type is the module's own, or made of one.
func isOurs(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		_, isStruct := t.Underlying().(*types.Struct)
		return t.Obj().Pkg() != nil && strings.HasPrefix(t.Obj().Pkg().Path(), "claimsheet/") && isStruct
	case *types.Pointer:
		return isOurs(t.Elem())
	case *types.Slice:
		return isOurs(t.Elem())
	case *types.Map:
		return isOurs(t.Elem())
	}
	return false
}

// call goes into a called function of the module with the values that it gets.
func (w *walk) call(b *body, call *ast.CallExpr, carries func(ast.Node) bool) {
	info := b.in.info
	var id *ast.Ident
	var receiver ast.Expr
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id, receiver = f.Sel, f.X
	default:
		return
	}
	switch f := info.Uses[id].(type) {
	case *types.Func:
		if callee := w.bodies[nameOf(f)]; callee != nil {
			w.give(callee, call.Args, receiver, carries)
		}
	case *types.Var: // a function in a field, such as an effect: whatever is put there
		for _, f := range w.fields[f] {
			w.give(f, call.Args, nil, carries)
		}
	}
}

// give enters a callee with the values of the plan that a call hands to it.
func (w *walk) give(callee *body, args []ast.Expr, receiver ast.Expr, carries func(ast.Node) bool) {
	into := map[types.Object]bool{}
	bind := func(name *ast.Ident, e ast.Expr) {
		if obj := callee.in.info.Defs[name]; obj != nil && isOurs(obj.Type()) && carries(e) {
			into[obj] = true
		}
	}
	if recv := callee.decl.Recv; recv != nil && receiver != nil && len(recv.List[0].Names) == 1 {
		bind(recv.List[0].Names[0], receiver)
	}
	i := 0
	for _, field := range callee.decl.Type.Params.List {
		for _, name := range field.Names {
			if i < len(args) {
				bind(name, args[i])
			}
			i++
		}
	}
	if len(into) > 0 {
		w.enter(callee, into)
	}
}
