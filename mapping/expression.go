package mapping

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

// maxExpression is the longest expression that is compiled, in bytes: the
// compiler descends once for each bracket, and too deep a descent ends the
// program.
const maxExpression = 10_000

// expression is a compiled when or expr. Its functions read the row's cells:
// col("A") text, num("A") number, date("A") day, has("A") whether it is filled.
type expression struct {
	program *vm.Program
	places  map[string]int    // the columns that its functions name
	conv    convert.Converter // the sheet's habits: separators, date system
	idle    sync.Pool         // of *evaluator
}

// condition compiles a when; nil for an empty one.
func (b *binder) condition(w yamltree.Scalar, aliases map[string]yamltree.Scalar) *expression {
	if w.Text == "" {
		return nil
	}
	return b.expression(w, aliases, true)
}

// cellError says which cell an expression cannot use, without quoting it.
type cellError string

func (e cellError) Error() string { return string(e) }

// expression compiles w, whose columns must exist. It is never nil; after a
// problem it must not be run. What a row means must not depend on the hour at
// which it is read (now), nor on the order of a table that has none (keys); and
// no expression may take all memory (unbounded).
func (b *binder) expression(w yamltree.Scalar, aliases map[string]yamltree.Scalar, isCondition bool) *expression {
	e := &expression{places: map[string]int{}, conv: b.conversion(&ValueRule{}, convert.Text)}
	if len(w.Text) > maxExpression {
		b.wrongAt(w.At, "expression", "the expression is longer than %d bytes", maxExpression).
			Hint = "work the value out in a column of the sheet"
		return e
	}
	var calls columnCalls
	options := append(boundedFunctions(), expr.Env(e.evaluator().env), expr.Patch(&calls), expr.Patch(bounds{}))
	for _, name := range slices.Concat([]string{"now", "keys", "values", "toPairs"}, unbounded) {
		options = append(options, expr.DisableBuiltin(name))
	}
	if isCondition {
		options = append(options, expr.AsBool())
	}
	program, err := expr.Compile(w.Text, options...)
	e.program = program
	for _, call := range calls.named {
		if i, found := b.column(yamltree.Scalar{Text: call.Value, At: inside(w, call.Location().From)}, aliases); found {
			e.places[call.Value] = i
		}
	}
	for _, loose := range calls.loose {
		message := loose.Value + " can only be called, with one column's name in quotes"
		if loose.Value == "$env" {
			message = "$env cannot be used in an expression"
		}
		b.wrongAt(inside(w, loose.Location().From), "expression", "%s", message).Hint = expressionHint
	}
	if fe, ok := errors.AsType[*file.Error](err); ok {
		hint := expressionHint
		if yamltree.HasTypographicQuote(w.Text) {
			hint = `it holds typographic quotes; type straight ones: has("A")`
		}
		b.wrongAt(inside(w, fe.From), "expression", "the expression cannot be used: %s", fe.Message).Hint = hint
	} else if err != nil {
		b.wrongAt(w.At, "expression", "the expression cannot be used: %s", err).Hint = expressionHint
	}
	return e
}

const expressionHint = `it may call col("A"), num("A"), date("A") and has("A") with a column's name`

func (e *expression) columns() []int {
	var list []int
	for _, name := range e.names() {
		list = append(list, e.places[name])
	}
	return list
}

// names are the columns as the expression names them, in the sheet's order.
func (e *expression) names() []string {
	return slices.SortedFunc(maps.Keys(e.places), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.places[a], e.places[b]), cmp.Compare(a, b))
	})
}
