package expr

import (
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// The limits of one evaluation. A cell holds at most 32,767 characters, so honest
// expressions stay far below. Without the limits, an expression that doubles a
// text at every step would take all memory, and no signal could stop it.
const (
	maxText   = 128 << 10 // bytes of one text
	maxMemory = 8 << 20   // bytes of all texts and lists of an evaluation
	maxItems  = 100_000   // items of all ranges and lists, as the library counts them
	maxSteps  = 10_000    // items that loops such as map and any visit
)

const (
	textLimit   reason = "it makes a text of more than 128 KiB"
	memoryLimit reason = "it needs more memory than an expression may use"
	stepLimit   reason = "it passes more than 10,000 items of lists"
)

// The functions that bounds inserts. Their names begin with a space, so no
// expression can call them itself.
const (
	addTexts  = " add texts"
	addAny    = " add"
	countText = " count text"
	countAny  = " count"
	countStep = " step"
)

// unbounded are the functions of the library whose result may be many times as
// long as their arguments.
var unbounded = []string{"repeat", "toJSON", "concat", "flatten"}

// boundedFunctions replace functions of the library by ones that refuse to make
// a long text.
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
			case size(args) > maxText:
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
	for i := 0; i < list.Len() && size <= maxText; i++ {
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

// stringSize refuses lists and maps, which may hold the same long text many times.
func stringSize(args []any) int {
	switch v := args[0].(type) {
	case string:
		return len(v)
	case nil, time.Time, time.Duration, *time.Location:
		return 0
	}
	switch reflect.ValueOf(args[0]).Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
		return maxText + 1
	}
	return 0
}

// usage is what one evaluation has used so far.
type usage struct{ memory, steps int }

func (u *usage) grow(bytes int) {
	if u.memory += bytes; u.memory > maxMemory {
		panic(memoryLimit)
	}
}

// functions adds the functions that bounds inserts to an environment. One that reaches
// a limit panics, see (*Expression).evaluator.
func (u *usage) functions(env map[string]any) {
	env[addTexts] = u.add
	env[addAny] = func(a, b any) any {
		x, isText := a.(string)
		if y, both := b.(string); isText && both {
			return u.add(x, y)
		}
		return runtime.Add(a, b)
	}
	env[countText] = func(text string) string { u.grow(len(text)); return text }
	env[countAny] = func(v any) any { u.grow(sizeOf(v)); return v }
	env[countStep] = func() bool {
		if u.steps++; u.steps > maxSteps {
			panic(stepLimit)
		}
		return true
	}
}

func (u *usage) add(a, b string) string {
	if len(a)+len(b) > maxText {
		panic(textLimit)
	}
	u.grow(len(a) + len(b))
	return a + b
}

// sizeOf estimates the bytes of a value, without what its items point to.
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

// bounds inserts the counting into an expression: at each + of texts, each result
// of a function that is not a number, and each item that a loop visits.
type bounds struct{}

// Visit sees the parts of a node before the node itself.
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

// count wraps a function's result in the call that counts it.
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

// isPlain reports whether values of a kind have a fixed size: numbers, booleans
// and structs. The only struct is a date.
func isPlain(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.Struct
}
