package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/expr-lang/expr/vm"
)

// evaluator runs an expression for one row after the other. Its functions, and
// what the library needs for a run, are made once: for a sheet of many rows
// that is most of the work. It is for one goroutine at a time.
type evaluator struct {
	expression *expression
	row        cell.Record // whose cells the functions read
	env        map[string]any
	machine    vm.VM
	usage      usage
}

// evaluator makes one. The signatures of its functions are for the compiler
// too.
func (e *expression) evaluator() *evaluator {
	at := &evaluator{expression: e, machine: vm.VM{MemoryBudget: maxExprItems}}
	at.env = map[string]any{
		"col": func(name string) (string, error) { return at.read(name, convert.Text) },
		"has": func(name string) bool { return !at.cell(name).IsEmpty() },
		"num": func(name string) (float64, error) {
			s, err := at.read(name, convert.Number)
			if err != nil {
				return 0, err
			}
			return strconv.ParseFloat(s, 64)
		},
		"date": func(name string) (time.Time, error) {
			s, err := at.read(name, convert.Date)
			if err != nil {
				return time.Time{}, err
			}
			return time.Parse(time.RFC3339, s)
		},
	}
	at.usage.functions(at.env)
	return at
}

func (at *evaluator) cell(name string) cell.Cell { return at.row.Cell(at.expression.places[name]) }

// read is a cell's literal as a type; an empty text is one.
func (at *evaluator) read(name string, t convert.Type) (string, error) {
	c := at.cell(name)
	if c.IsEmpty() && t == convert.Text {
		return "", nil
	}
	conv := at.expression.conv
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

// run is what the expression comes to for a row. It is safe for concurrent use.
func (e *expression) run(r cell.Record) (any, error) {
	at, _ := e.idle.Get().(*evaluator)
	if at == nil {
		at = e.evaluator()
	}
	defer e.idle.Put(at)
	at.row, at.usage = r, usage{}
	return at.machine.Run(e.program, at.env)
}

// value is the expression's result for a row as a cell, for the conversion.
func (e *expression) value(r cell.Record) (cell.Cell, *convert.CellError) {
	out, err := e.run(r)
	if err != nil {
		return cell.Cell{}, expressionRefusal(err)
	}
	switch v := out.(type) {
	case nil:
		return cell.Cell{}, nil
	case bool:
		if v {
			return cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}, nil
		}
		return cell.Cell{Kind: cell.Bool, Raw: "0", Shown: "FALSE"}, nil
	case int, int64:
		s := fmt.Sprint(v)
		return cell.Cell{Kind: cell.Number, Raw: s, Shown: s}, nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return cell.Cell{}, &convert.CellError{Code: "expression", Message: "is used in an expression that gives no number, as a division by zero does",
				Hint: "correct the cell, or let the expression say what is sent then"}
		}
		s := strconv.FormatFloat(v, 'f', -1, 64)
		return cell.Cell{Kind: cell.Number, Raw: s, Shown: s}, nil
	case time.Time:
		s := v.Format(time.RFC3339)
		if v.Equal(v.Truncate(24 * time.Hour)) {
			s = v.Format(time.DateOnly)
		}
		return cell.Cell{Kind: cell.Text, Raw: s, Shown: s}, nil
	case string:
		return cell.Cell{Kind: cell.Text, Raw: v, Shown: v}, nil
	}
	return cell.Cell{}, &convert.CellError{Code: "expression", Message: fmt.Sprintf("is used in an expression that gives a %T, which cannot be sent", out)}
}

// holds tells whether a condition is true for a row.
func (e *expression) holds(r cell.Record) (bool, *convert.CellError) {
	if e == nil {
		return true, nil
	}
	out, err := e.run(r)
	if err != nil {
		return false, expressionRefusal(err)
	}
	yes, _ := out.(bool) // AsBool
	return yes, nil
}

// expressionRefusal names the cell that an expression cannot use. What the
// library says of any other failure may quote a cell, so it is not repeated.
func expressionRefusal(err error) *convert.CellError {
	message := "its cells do not fit what it does with them"
	if ce, ok := errors.AsType[cellError](err); ok {
		message = string(ce)
	}
	if limit, ok := errors.AsType[limitError](err); ok {
		message = string(limit)
	}
	return &convert.CellError{Code: "expression", Message: "is used in an expression that fails: " + message}
}
