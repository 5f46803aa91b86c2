package expr

import (
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// Nothing in an expression may grow without limit: an expression that doubles a text at every step would take all memory, and no
// signal could stop it. So there are no variables, no ranges, no loops within loops and none that make values, and the functions that
// make long texts have a limit. What is left grows with the expression and the cells of the row.
const (
	maxText  = 128 << 10 // bytes of a text that a function makes; a cell holds at most 32,767 characters
	maxItems = 100_000   // items of all lists, as the library counts them
)

const textLimit reason = "it makes a text of more than 128 KiB"

// switchedOff are the functions of the library that depend on the time or the order of a table, or that grow.
var switchedOff = []string{"now", "keys", "values", "toPairs", "repeat", "toJSON", "toBase64", "concat", "flatten", "map", "reduce", "groupBy", "sortBy"}

// growth finds what may grow without limit in an expression.
type growth struct{ found []Problem }

// Visit sees the parts of a node before the node itself.
func (g *growth) Visit(node *ast.Node) {
	message := ""
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		message = "an expression has no variables (let)"
	case *ast.BinaryNode:
		if n.Operator == ".." {
			message = "an expression has no ranges (..)"
		}
	case *ast.PredicateNode:
		isLoop := func(inner ast.Node) bool { _, ok := inner.(*ast.PredicateNode); return ok }
		if ast.Find(n.Node, isLoop) != nil {
			message = "an expression has no loop within a loop"
		}
	case *ast.BuiltinNode: // the parser knows some of these by itself
		for _, name := range switchedOff {
			if n.Name == name {
				message = "unknown name " + name
			}
		}
	}
	if message != "" {
		g.found = append(g.found, Problem{Offset: (*node).Location().From, Message: message, Hint: "work the value out in a column of the sheet"})
	}
}

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
