package mapping

import (
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/problem/yamltree"
)

// fieldPath splits a dotted field name into the names of nested objects and the
// places in arrays.
func (b *binder) fieldPath(name yamltree.Scalar) []string {
	path := strings.Split(name.Text, ".")
	_, isPlace := arrayIndex(path[0])
	switch {
	case slices.Contains(path, ""):
		b.wrongAt(name.At, "bad-field", "“%s” is not a field's name; a dot separates the names of nested objects", name.Text)
	case isPlace:
		b.wrongAt(name.At, "bad-field", "“%s” begins with a place in an array, and the payload is an object; a name must come first", name.Text)
	}
	return path
}

// arrayIndex reads a part of a field's name that is a place in an array: digits,
// without a leading zero.
func arrayIndex(part string) (int, bool) {
	i, err := strconv.Atoi(part)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == part
}

// checkPaths reports a field that is both a value and an object, or an object
// and an array, and an array with a gap.
func (b *binder) checkPaths(rules []FieldRule, fields []boundField) {
	for i, f := range fields {
		for _, other := range fields {
			if len(other.path) > len(f.path) && slices.Equal(other.path[:len(f.path)], f.path) {
				b.wrongAt(rules[i].Name.At, "bad-field", "“%s” is a value here and an object in “%s”", rules[i].Name.Text, strings.Join(other.path, "."))
				break
			}
		}
		for depth := 1; depth < len(f.path); depth++ {
			if !b.checkPlace(rules[i].Name, f.path[:depth], f.path[depth], fields) {
				break
			}
		}
	}
}

// checkPlace compares one part of a field's name with what other fields have
// in its place, below the same parts.
func (b *binder) checkPlace(name yamltree.Scalar, below []string, part string, fields []boundField) (ok bool) {
	at, isPlace := arrayIndex(part)
	before := at == 0
	for _, other := range fields {
		if len(other.path) <= len(below) || !slices.Equal(other.path[:len(below)], below) {
			continue
		}
		there, alike := arrayIndex(other.path[len(below)])
		if isPlace && !alike {
			b.wrongAt(name.At, "bad-field", "“%s” is an array in “%s” and an object in “%s”", strings.Join(below, "."), name.Text, strings.Join(other.path, ".")).
				Hint = "a part of a name that is a number is a place in an array"
			return false
		}
		before = before || there == at-1
	}
	if isPlace && !before {
		b.wrongAt(name.At, "bad-field", "“%s” is at place %d of an array, and no field is at place %d", name.Text, at, at-1).
			Hint = "the first place is 0, and there are no gaps"
	}
	return before || !isPlace
}
