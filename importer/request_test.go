package importer

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// TestClientBody writes dotted names as objects, and
// values as the service's types, in the mapping's order.
func TestClientBody(t *testing.T) {
	field := func(v cell.Value, path ...string) mapping.Value {
		return mapping.Value{Name: strings.Join(path, "."), Value: v}
	}
	for name, c := range map[string]struct {
		fields []mapping.Value
		want   string
	}{
		"none":    {nil, `{}`},
		"flat":    {[]mapping.Value{field(textOf("Jane <&>"), "firstName"), field(textOf("x"), "a")}, `{"firstName":"Jane <&>","a":"x"}`},
		"nested":  {[]mapping.Value{field(textOf("R1"), "address", "code"), field(textOf("J"), "name"), field(textOf("L"), "address", "town")}, `{"address":{"code":"R1","town":"L"},"name":"J"}`},
		"literal": {[]mapping.Value{field(cell.Value{Field: cell.BoolValue, Literal: "true"}, "ok"), field(cell.Value{Field: cell.DoubleValue, Literal: "1.10"}, "n")}, `{"ok":true,"n":1.10}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(clientBody(c.fields)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
