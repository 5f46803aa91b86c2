package mapping

import (
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// What one evaluation of an expression may use. A row's cells hold 32,767
// characters each, so nothing that is made of a few of them comes near; an
// expression that doubles a text at every step would take all memory without
// them, and could not be stopped by a signal.
const (
	maxExprText   = 128 << 10 // bytes of one text
	maxExprMemory = 8 << 20   // bytes of all texts and lists that an evaluation makes
	maxExprItems  = 100_000   // items of all ranges and lists that the library counts
	maxExprSteps  = 10_000    // items that loops such as map and any pass
)

// limitError says which of these bounds an evaluation has reached.
type limitError string

func (e limitError) Error() string { return string(e) }

const (
	textLimit   limitError = "it makes a text of more than 128 KiB"
	memoryLimit limitError = "it needs more memory than an expression may use"
	stepLimit   limitError = "it passes more than 10,000 items of lists"
)

// The functions that bounds calls. Nobody can write these names.
const (
	addTexts  = " add texts"
	addAny    = " add"
	countText = " count text"
	countAny  = " count"
	countStep = " step"
)

// unbounded are the library's functions whose result may be any number of times
// as long as what they are given.
var unbounded = []string{"repeat", "toJSON", "concat", "flatten"}

// boundedFunctions take the place of the library's functions of the same names,
// and refuse to make a long text.
func boundedFunctions() []expr.Option {
	var options []expr.Option
	for name, size := range map[string]func(args []any) int{"join": joinSize, "replace": replaceSize, "string": stringSize} {
		original := builtin.Builtins[builtin.Index[name]]
		types := make([]any, len(original.Types))
		for i, t := range original.Types {
			types[i] = reflect.New(t).Interface()
		}
		options = append(options, expr.Function(name, func(args ...any) (any, error) {
			switch {
			case size(args) > maxExprText:
				return nil, textLimit
			case original.Fast != nil:
				return original.Fast(args[0]), nil
			}
			return original.Func(args...)
		}, types...))
	}
	return options
}

func joinSize(args []any) int {
	list, glue := reflect.ValueOf(args[0]), 0
	if len(args) == 2 {
		glue = len(args[1].(string))
	}
	if list.Kind() != reflect.Slice {
		return 0 // refused by the function
	}
	size := max(list.Len()-1, 0) * glue
	for i := 0; i < list.Len() && size <= maxExprText; i++ {
		if text, ok := list.Index(i).Interface().(string); ok {
			size += len(text)
		}
	}
	return size
}

func replaceSize(args []any) int {
	text, old, with := args[0].(string), args[1].(string), args[2].(string)
	return len(text) + strings.Count(text, old)*max(len(with)-len(old), 0)
}

// stringSize lets through what prints short; a list may hold the same long text
// many times.
func stringSize(args []any) int {
	switch v := args[0].(type) {
	case string:
		return len(v)
	case nil, time.Time, time.Duration, *time.Location:
		return 0
	}
	switch reflect.ValueOf(args[0]).Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
		return maxExprText + 1
	}
	return 0
}

// usage is what an evaluation has used.
type usage struct{ memory, steps int }

func (u *usage) grow(bytes int) error {
	if u.memory += bytes; u.memory > maxExprMemory {
		return memoryLimit
	}
	return nil
}

// functions are those that bounds calls, for the environment of an expression.
func (u *usage) functions(env map[string]any) {
	env[addTexts] = u.add
	env[addAny] = func(a, b any) (any, error) {
		x, isText := a.(string)
		if y, both := b.(string); isText && both {
			return u.add(x, y)
		}
		return runtime.Add(a, b), nil
	}
	env[countText] = func(text string) (string, error) { return text, u.grow(len(text)) }
	env[countAny] = func(v any) (any, error) { return v, u.grow(sizeOf(v)) }
	env[countStep] = func() (bool, error) {
		if u.steps++; u.steps > maxExprSteps {
			return false, stepLimit
		}
		return true, nil
	}
}

func (u *usage) add(a, b string) (string, error) {
	if len(a)+len(b) > maxExprText {
		return "", textLimit
	}
	return a + b, u.grow(len(a) + len(b))
}

// sizeOf is about what a value takes, what its items lead to aside.
func sizeOf(v any) int {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.String:
		return value.Len()
	case reflect.Slice:
		return value.Len() * int(value.Type().Elem().Size())
	case reflect.Map:
		return value.Len() * 64
	}
	return 0
}

// bounds puts the counting into an expression: each + of texts, each result of
// a function that is no number, and each item that a loop passes.
type bounds struct{}

// Visit sees the parts of a node before the node.
func (bounds) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		n.Node = &ast.SequenceNode{Nodes: []ast.Node{call(countStep), n.Node}}
	case *ast.BinaryNode:
		left, right := kindOf(n.Left), kindOf(n.Right)
		switch {
		case n.Operator != "+" || isPlain(left) || isPlain(right):
		case left == reflect.String && right == reflect.String:
			ast.Patch(node, call(addTexts, n.Left, n.Right))
		default:
			ast.Patch(node, call(addAny, n.Left, n.Right))
		}
	case *ast.BuiltinNode:
		count(node)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); !ok || !strings.HasPrefix(callee.Value, " ") {
			count(node)
		}
	}
}

// count has a function's result counted, by its type.
func count(node *ast.Node) {
	switch kind := kindOf(*node); {
	case kind == reflect.String:
		ast.Patch(node, call(countText, *node))
	case !isPlain(kind):
		ast.Patch(node, call(countAny, *node))
	}
}

func call(name string, args ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

func kindOf(n ast.Node) reflect.Kind {
	if t := n.Type(); t != nil {
		return t.Kind()
	}
	return reflect.Interface
}

// isPlain reports whether values of a kind are of one size: numbers, booleans,
// and structs, of which a date is the only one.
func isPlain(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.Struct
}
