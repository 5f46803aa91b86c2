package mapping

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"claimsheet/mapping/problem/yamltree"
)

// inside is the place of a character of an expression. YAML folds and indents
// the lines of a longer one, so that only its beginning is sure.
func inside(w yamltree.Scalar, offset int) yamltree.Place {
	if strings.Contains(w.Text, "\n") {
		return w.At
	}
	return yamltree.Place{Line: w.At.Line, Column: w.At.Column + offset}
}

// columnCalls finds the columns that an expression's calls name. A name must
// stand there literally, or a missing column would show only on some row: so
// the functions may be called and nothing else, neither handed on nor reached
// through the environment.
type columnCalls struct {
	named []*ast.StringNode
	loose []*ast.IdentifierNode
}

// Visit sees a call's parts before the call.
func (c *columnCalls) Visit(n *ast.Node) {
	switch node := (*n).(type) {
	case *ast.IdentifierNode:
		if slices.Contains([]string{"col", "num", "date", "has", "$env"}, node.Value) {
			c.loose = append(c.loose, node)
		}
	case *ast.CallNode:
		callee, ok := node.Callee.(*ast.IdentifierNode)
		if !ok || len(node.Arguments) != 1 {
			return
		}
		name, ok := node.Arguments[0].(*ast.StringNode)
		if i := slices.Index(c.loose, callee); ok && i >= 0 {
			c.loose = slices.Delete(c.loose, i, i+1)
			c.named = append(c.named, name)
		}
	}
}
