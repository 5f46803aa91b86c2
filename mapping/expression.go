package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// maxExpression is the longest expression that is compiled, in bytes: the
// compiler descends once for each bracket, and too deep a descent ends the
// program.
const maxExpression = 10_000

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
			return "", cellError("“" + name + "” is empty")
		case refusal != nil:
			return "", cellError("“" + name + "” " + refusal.Message)
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

// cellError says which cell an expression cannot use, without quoting it.
type cellError string

func (e cellError) Error() string { return string(e) }

// expression compiles w, whose columns must exist. It is never nil; after a
// problem it must not be run. What a row means must not depend on the hour at
// which it is read (now), nor on the order of a table that has none (keys).
func (b *binder) expression(w Word, aliases map[string]Word, isCondition bool) *expression {
	e := &expression{places: map[string]int{}, conv: b.conversion(&ValueRule{}, Text)}
	if len(w.Text) > maxExpression {
		b.wrongAt(w.At, "expression", "the expression is longer than %d bytes", maxExpression).
			Hint = "work the value out in a column of the sheet"
		return e
	}
	var calls columnCalls
	options := []expr.Option{expr.Env(e.functions(Record{})), expr.Patch(&calls)}
	for _, name := range []string{"now", "keys", "values", "toPairs"} {
		options = append(options, expr.DisableBuiltin(name))
	}
	if isCondition {
		options = append(options, expr.AsBool())
	}
	program, err := expr.Compile(w.Text, options...)
	e.program = program
	for _, call := range calls.named {
		if i, found := b.column(Word{call.Value, w.inside(call.Location().From)}, aliases); found {
			e.places[call.Value] = i
		}
	}
	for _, loose := range calls.loose {
		message := loose.Value + " can only be called, with one column's name in quotes"
		if loose.Value == "$env" {
			message = "$env cannot be used in an expression"
		}
		b.wrongAt(w.inside(loose.Location().From), "expression", "%s", message).Hint = expressionHint
	}
	if fe, ok := errors.AsType[*file.Error](err); ok {
		b.wrongAt(w.inside(fe.From), "expression", "the expression cannot be used: %s", fe.Message).Hint = expressionHint
	} else if err != nil {
		b.wrongAt(w.At, "expression", "the expression cannot be used: %s", err).Hint = expressionHint
	}
	return e
}

const expressionHint = `it may call col("A"), num("A"), date("A") and has("A") with a column's name`

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

// expressionRefusal names the cell that an expression cannot use. What the
// library says of any other failure may quote a cell, so it is not repeated.
func expressionRefusal(err error) *Refusal {
	message := "its cells do not fit what it does with them"
	if ce, ok := errors.AsType[cellError](err); ok {
		message = string(ce)
	}
	return &Refusal{Code: "expression", Message: "is used in an expression that fails: " + message}
}
