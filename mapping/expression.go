package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// expression is a compiled when or expr. Its functions read the row's cells:
// col("A") text, num("A") number, date("A") day, has("A") whether it is filled.
type expression struct {
	program *vm.Program
	places  map[string]int // the columns that its functions name
	conv    Conversion     // the sheet's habits: separators, date system
}

// functions are what an expression can call; the signatures are for the
// compiler, the bodies are set for each row.
func (e *expression) functions(r Record) map[string]any {
	cell := func(name string) Cell { return r.Cell(e.places[name]) }
	read := func(name string, t Type) (string, error) {
		c := cell(name)
		if c.IsEmpty() && t == Text {
			return "", nil
		}
		conv := e.conv
		conv.Type = t
		v, refusal := conv.Convert(c)
		switch {
		case c.IsEmpty():
			return "", fmt.Errorf("“%s” is empty", name)
		case refusal != nil:
			return "", fmt.Errorf("“%s” %s", name, refusal.Message)
		}
		return v.Literal, nil
	}
	return map[string]any{
		"col": func(name string) (string, error) { return read(name, Text) },
		"has": func(name string) bool { return !cell(name).IsEmpty() },
		"num": func(name string) (float64, error) {
			s, err := read(name, Numeric)
			if err != nil {
				return 0, err
			}
			return strconv.ParseFloat(s, 64)
		},
		"date": func(name string) (time.Time, error) {
			s, err := read(name, Date)
			if err != nil {
				return time.Time{}, err
			}
			return time.Parse(time.RFC3339, s)
		},
	}
}

// condition compiles a when; nil for an empty one.
func (b *binder) condition(w Word, aliases map[string]Word) *expression {
	if w.Text == "" {
		return nil
	}
	return b.expression(w, aliases, true)
}

// expression compiles w, whose columns must exist. It is never nil; after a
// problem it must not be run.
func (b *binder) expression(w Word, aliases map[string]Word, isCondition bool) *expression {
	e := &expression{places: map[string]int{}, conv: b.conversion(&ValueRule{}, Text)}
	tree, err := exprparser.Parse(w.Text)
	if err == nil {
		b.expressionColumns(w, tree.Node, aliases, e)
		options := []expr.Option{expr.Env(e.functions(Record{}))}
		if isCondition {
			options = append(options, expr.AsBool())
		}
		e.program, err = expr.Compile(w.Text, options...)
	}
	if err != nil {
		at, message := w.At, err.Error()
		if fe, ok := errors.AsType[*file.Error](err); ok {
			at.Column += fe.Column
			message = fe.Message
		}
		b.wrongAt(at, "expression", "the expression cannot be used: %s", message).
			Hint = `it may call col("A"), num("A"), date("A") and has("A") with a column's name`
	}
	return e
}

// expressionColumns finds the columns that the calls name. A name must stand
// there literally, or a missing column would show only on some row.
func (b *binder) expressionColumns(w Word, root ast.Node, aliases map[string]Word, e *expression) {
	ast.Walk(&root, visitor(func(n ast.Node) {
		call, ok := n.(*ast.CallNode)
		if !ok {
			return
		}
		name, ok := call.Callee.(*ast.IdentifierNode)
		if !ok || !slices.Contains([]string{"col", "num", "date", "has"}, name.Value) {
			return
		}
		if len(call.Arguments) == 1 {
			if text, ok := call.Arguments[0].(*ast.StringNode); ok {
				if i, found := b.column(Word{text.Value, w.At}, aliases); found {
					e.places[text.Value] = i
				}
				return
			}
		}
		b.wrongAt(w.At, "expression", "%s(…) takes one column's name in quotes", name.Value)
	}))
}

type visitor func(ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

func (e *expression) columns() []int {
	var list []int
	for _, c := range e.places {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}

// value is the expression's result for a row as a cell, for the conversion.
func (e *expression) value(r Record) (Cell, *Refusal) {
	out, err := expr.Run(e.program, e.functions(r))
	if err != nil {
		return Cell{}, expressionRefusal(err)
	}
	switch v := out.(type) {
	case nil:
		return Cell{}, nil
	case bool:
		if v {
			return Cell{Kind: Bool, Raw: "1", Shown: "TRUE"}, nil
		}
		return Cell{Kind: Bool, Raw: "0", Shown: "FALSE"}, nil
	case int, int64, float64:
		s := fmt.Sprint(v)
		if f, ok := v.(float64); ok {
			s = strconv.FormatFloat(f, 'f', -1, 64)
		}
		return Cell{Kind: Number, Raw: s, Shown: s}, nil
	case time.Time:
		s := v.Format(time.RFC3339)
		if v.Equal(v.Truncate(24 * time.Hour)) {
			s = v.Format(time.DateOnly)
		}
		return Cell{Kind: TextCell, Raw: s, Shown: s}, nil
	case string:
		return Cell{Kind: TextCell, Raw: v, Shown: v}, nil
	}
	return Cell{}, &Refusal{Code: "expression", Message: fmt.Sprintf("is used in an expression that gives a %T, which cannot be sent", out)}
}

// holds tells whether a condition is true for a row.
func (e *expression) holds(r Record) (bool, *Refusal) {
	if e == nil {
		return true, nil
	}
	out, err := expr.Run(e.program, e.functions(r))
	if err != nil {
		return false, expressionRefusal(err)
	}
	yes, _ := out.(bool) // AsBool
	return yes, nil
}

func expressionRefusal(err error) *Refusal {
	message := err.Error()
	if fe, ok := errors.AsType[*file.Error](err); ok {
		message = fe.Message
		if fe.Prev != nil {
			message = fe.Prev.Error()
		}
	}
	return &Refusal{Code: "expression", Message: "is used in an expression that fails: " + message}
}
