package mapping_test

import (
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

func BenchmarkConvert(b *testing.B) {
	london := location(b, "Europe/London")
	cases := []struct {
		name string
		c    mapping.Conversion
		cell cell.Cell
	}{
		{"Text", mapping.Conversion{Type: mapping.Text}, text("1 High Street, Leeds")},
		{"DropDown", mapping.Conversion{Type: mapping.DropDown, Values: map[string]string{"LLOY": "Lloyds"}}, text("LLOY")},
		{"Checkbox", mapping.Conversion{Type: mapping.Checkbox}, text("No")},
		{"Date/cell", mapping.Conversion{Type: mapping.Date}, date("29342", "1980-05-01")},
		{"Date/ISO", mapping.Conversion{Type: mapping.Date}, text("1980-05-01")},
		{"Date/format", mapping.Conversion{Type: mapping.Date, Format: "dd/mm/yyyy"}, text("01/05/1980")},
		{"DateTime/format", mapping.Conversion{Type: mapping.DateTime, Format: "dd/mm/yyyy hh:mm:ss", Zone: london}, text("01/05/1980 14:30:05")},
		{"Number/cell", mapping.Conversion{Type: mapping.Numeric}, number("1234.5")},
		{"Number/noise", mapping.Conversion{Type: mapping.Numeric}, number("1.1000000000000001")},
		{"Currency/text", mapping.Conversion{Type: mapping.Currency}, text("£1,234.50")},
		{"Email", mapping.Conversion{Type: mapping.Email}, text("sam.leaf@example.com")},
		{"Phone", mapping.Conversion{Type: mapping.Phone, Region: "GB"}, text("020 7946 0018")},
	}
	for _, bc := range cases {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, refusal := bc.c.Convert(bc.cell); refusal != nil {
					b.Fatal(refusal.Message)
				}
			}
		})
	}
}

func BenchmarkKeyText(b *testing.B) {
	b.ReportAllocs()
	c := text("Customer 10017")
	for b.Loop() {
		if _, refusal := mapping.KeyText(c); refusal != nil {
			b.Fatal(refusal.Message)
		}
	}
}
