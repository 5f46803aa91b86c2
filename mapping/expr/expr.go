// Package expr compiles and runs the expressions of a mapping: a `when`, which is
// a condition on a row, and an `expr`, which makes a value from a row.
//
// An expression reads the row's cells by four functions: col("A") is the text,
// num("A") the number and date("A") the day in column A, and has("A") reports
// whether the cell is filled. The same row always gives the same result.
package expr

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// maxSource is the longest expression that is compiled, in bytes. The compiler
// recurses for each bracket, and a stack that is too deep ends the program.
const maxSource = 2_000

// Expression is a compiled expression. It may be run from several goroutines at
// once. A nil Expression is the condition that always holds.
type Expression struct {
	program *vm.Program
	columns map[string]int    // the columns that the functions name
	cells   convert.Converter // how num and date read a cell
	line    int               // of the mapping
	idle    sync.Pool         // of *evaluator
}

// Options say what an expression may use.
type Options struct {
	// Condition requires a result of true or false.
	Condition bool
	// Cells says how the sheet writes numbers and counts days; its Type is not used.
	Cells convert.Converter
	// Line is where the expression stands in the mapping, for messages.
	Line int
	// Column finds the column with a name. offset is where the name is in
	// the source, in characters. A column that is not ok is left out of
	// Expression.Columns; Column reports it.
	Column func(name string, offset int) (column int, ok bool)
	// Wrong is told, once at most, why the expression cannot be used; offset is as for Column.
	Wrong func(offset int, message, hint string)
}

// switchedOff are the functions of the library that depend on the time or on the order of a table.
var switchedOff = []string{"now", "keys", "values", "toPairs"}

// Compile compiles source. The Expression is never nil; if something is wrong, or a
// column was not found, it must not be run.
//
// Functions that are switchedOff are not part of the language.
func Compile(source string, o Options) *Expression {
	e := &Expression{columns: map[string]int{}, cells: o.Cells, line: o.Line}
	if len(source) > maxSource {
		o.Wrong(0, fmt.Sprintf("the expression is longer than %d bytes", maxSource), "work the value out in a column of the sheet")
		return e
	}
	var calls columnCalls
	options := []expr.Option{expr.Env(e.evaluator().env), expr.Patch(&calls)}
	for _, name := range switchedOff {
		options = append(options, expr.DisableBuiltin(name))
	}
	if o.Condition {
		options = append(options, expr.AsBool())
	}
	program, err := expr.Compile(source, options...)
	e.program = program
	for _, name := range calls {
		if column, ok := o.Column(name.Value, name.Location().From); ok {
			e.columns[name.Value] = column
		}
	}
	for _, bare := range unquoted.FindAllStringSubmatchIndex(source, -1) {
		if bare[2] < 0 {
			continue // a text, which may have a call's letters in it, as the header “Start date(UK)” does
		}
		call, name := source[bare[2]:bare[3]], strings.TrimSpace(source[bare[4]:bare[5]])
		o.Wrong(utf8.RuneCountInString(source[:bare[4]]), "the column's name has no quotes", fmt.Sprintf(`write %s("%s")`, call, name))
		return e
	}
	if err != nil {
		o.Wrong(syntaxProblem(source, err))
	}
	return e
}

// unquoted matches texts, and a call with a column's name without quotes.
var unquoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b(col|num|date|has)\(\s*([\pL\pN][^"'()]*)\)`)

const functionsHint = `it may call col("A"), num("A"), date("A") and has("A") with a column's name`

// syntaxProblem says what the library's error means, and where in the source, in characters.
func syntaxProblem(source string, err error) (offset int, message, hint string) {
	message, hint = "the expression cannot be used: "+err.Error(), functionsHint
	if at, ok := errors.AsType[*file.Error](err); ok {
		offset, message = at.From, "the expression cannot be used: "+at.Message
		switch isFirst := strings.HasPrefix(strings.TrimSpace(source), "="); {
		case at.Message == `unexpected token Operator("=")` && isFirst:
			message, hint = "the expression begins with =, as a spreadsheet's formula does",
				`leave the = out, and name columns, not cells: upper(col("Surname")) for =UPPER(I5)`
		case at.Message == `unexpected token Operator("=")`:
			message, hint = "one = does not compare", "write == to compare"
		case at.Message == "unexpected token EOF":
			message, hint = "the expression ends before it is complete", "close every bracket and quote, and write something on both sides of and, or, == and the like"
		}
		if strings.ContainsAny(source, problem.DoubleQuotes+problem.SingleQuotes) {
			hint = `it holds typographic quotes; type straight ones: has("A")`
		}
	}
	return offset, message, hint
}

// columnCalls are the names of columns in the calls of an expression. A call that does not
// name its column in quotes fails where it runs, because nothing can look the column up before.
type columnCalls []*ast.StringNode

// Visit sees the parts of a call before the call.
func (c *columnCalls) Visit(n *ast.Node) {
	call, ok := (*n).(*ast.CallNode)
	if !ok || len(call.Arguments) != 1 {
		return
	}
	callee, _ := call.Callee.(*ast.IdentifierNode)
	name, ok := call.Arguments[0].(*ast.StringNode)
	if ok && callee != nil && slices.Contains([]string{"col", "num", "date", "has"}, callee.Value) {
		*c = append(*c, name)
	}
}

// Columns returns the columns that the expression reads and their names in it, in the sheet's order.
func (e *Expression) Columns() (columns []int, names []string) {
	if e == nil {
		return nil, nil
	}
	names = slices.SortedFunc(maps.Keys(e.columns), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.columns[a], e.columns[b]), cmp.Compare(a, b))
	})
	for _, name := range names {
		columns = append(columns, e.columns[name])
	}
	return columns, names
}

// Holds reports whether a condition is true for a row.
func (e *Expression) Holds(r cell.Record) (bool, *convert.CellError) {
	if e == nil {
		return true, nil
	}
	out, failed := e.run(r)
	if failed != nil {
		return false, failed
	}
	yes, _ := out.(bool) // AsBool
	return yes, nil
}

// Value returns the result for a row as a cell, ready for a conversion.
func (e *Expression) Value(r cell.Record) (cell.Cell, *convert.CellError) {
	out, failed := e.run(r)
	if failed != nil {
		return cell.Cell{}, failed
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
			return cell.Cell{}, e.fails("it gives no number, as a division by zero does")
		}
		s := strconv.FormatFloat(v, 'f', -1, 64)
		return cell.Cell{Kind: cell.Number, Raw: s, Shown: s}, nil
	case time.Time:
		s := v.Format(time.RFC3339)
		switch {
		case v.Location() != time.UTC: // it says its zone
		case v.Equal(v.Truncate(24 * time.Hour)):
			s = v.Format(time.DateOnly)
		default: // date counts from the midnight that a clock in the sheet's zone shows
			s = v.Format("2006-01-02T15:04:05")
		}
		return cell.Cell{Kind: cell.Text, Raw: s, Shown: s}, nil
	case string:
		return cell.Cell{Kind: cell.Text, Raw: v, Shown: v}, nil
	}
	return cell.Cell{}, e.fails(fmt.Sprintf("it gives a %T, which cannot be sent", out))
}

// run returns what the library makes of a row. The library's own errors may quote a cell and are not repeated.
func (e *Expression) run(r cell.Record) (any, *convert.CellError) {
	at, _ := e.idle.Get().(*evaluator)
	if at == nil {
		at = e.evaluator()
	}
	defer e.idle.Put(at)
	at.row, at.failed = r, ""
	out, err := at.machine.Run(e.program, at.env)
	if err != nil {
		return nil, e.fails(cmp.Or(at.failed, "its cells do not fit what it does with them"))
	}
	return out, nil
}

func (e *Expression) fails(why string) *convert.CellError {
	return &convert.CellError{Code: "expression",
		Message: fmt.Sprintf("is used in the expression in line %d of the mapping, which fails: %s", e.line, why),
		Hint:    "correct the cell, or let the expression say what is sent then"}
}

// evaluator runs an expression for one row after another. It is made once and
// used again, because making it costs more than running it. It belongs to one
// goroutine at a time.
type evaluator struct {
	expression *Expression
	row        cell.Record // the row that the functions read
	failed     string      // which cell of it they cannot use, without quoting it; "" for none
	env        map[string]any
	machine    vm.VM
}

// evaluator makes one. The compiler reads the signatures of its functions: those with
// one result it calls without reflection, which takes a third of the time. So they
// panic, which the library returns as it does an error result.
func (e *Expression) evaluator() *evaluator {
	at := &evaluator{expression: e}
	at.env = map[string]any{
		"col": func(name string) string { return at.read(name, convert.Text) },
		"has": func(name string) bool { return !at.cell(name).IsEmpty() },
		"num": func(name string) float64 {
			f, err := strconv.ParseFloat(at.read(name, convert.Number), 64)
			if err != nil {
				panic(err)
			}
			return f
		},
		"date": func(name string) time.Time {
			day, err := time.Parse(time.RFC3339, at.read(name, convert.Date))
			if err != nil {
				panic(err)
			}
			return day
		},
	}
	return at
}

// fail ends the run of the expression.
func (at *evaluator) fail(why string) {
	at.failed = why
	panic(why)
}

// cell returns the cell of a column. It fails for a column that the expression does not name in quotes.
func (at *evaluator) cell(name string) cell.Cell {
	column, ok := at.expression.columns[name]
	if !ok {
		at.fail("it does not name a column in quotes")
	}
	return at.row.Cell(column)
}

// read returns a cell's literal as a type. It fails for a cell that cannot be read, and for an empty one
// unless the type is Text.
func (at *evaluator) read(name string, t convert.Type) string {
	c := at.cell(name)
	if c.IsEmpty() && t == convert.Text {
		return ""
	}
	converter := at.expression.cells
	converter.Type = t
	v, refused := converter.Convert(c)
	switch {
	case c.IsEmpty():
		at.fail("“" + name + "” is empty")
	case refused != nil:
		at.fail("“" + name + "” " + refused.Message)
	}
	return v.Literal
}
