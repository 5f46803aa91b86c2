package convert_test

import (
	"testing"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

func BenchmarkConvert(b *testing.B) {
	london := location(b, "Europe/London")
	cases := []struct {
		name string
		c    convert.Converter
		cell cell.Cell
	}{
		{"Text", convert.Converter{Type: convert.Text}, text("1 High Street, Leeds")},
		{"DropDown", convert.Converter{Type: convert.DropDown, Values: map[string]string{"LLOY": "Lloyds"}}, text("LLOY")},
		{"Checkbox", convert.Converter{Type: convert.Checkbox}, text("No")},
		{"Date/cell", convert.Converter{Type: convert.Date}, date("29342", "1980-05-01")},
		{"Date/ISO", convert.Converter{Type: convert.Date}, text("1980-05-01")},
		{"Date/format", convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy"}, text("01/05/1980")},
		{"DateTime/format", convert.Converter{Type: convert.DateTime, Format: "dd/mm/yyyy hh:mm:ss", Zone: london}, text("01/05/1980 14:30:05")},
		{"Number/cell", convert.Converter{Type: convert.Number}, number("1234.5")},
		{"Number/noise", convert.Converter{Type: convert.Number}, number("1.1000000000000001")},
		{"Currency/text", convert.Converter{Type: convert.Currency}, text("£1,234.50")},
		{"Email", convert.Converter{Type: convert.Email}, text("sam.leaf@example.com")},
		{"Phone", convert.Converter{Type: convert.Phone, Region: "GB"}, text("020 7946 0018")},
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
		if _, refusal := convert.Key(c); refusal != nil {
			b.Fatal(refusal.Message)
		}
	}
}
