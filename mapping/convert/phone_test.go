package convert_test

import (
	"testing"

	"claimsheet/mapping/convert"
)

// A number tells its region only where the region's plan assigns it.
func TestIsPhoneIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, region string
		valid        bool
	}{
		{"07911 123456", "GB", true},
		{"020 7946 0958", "GB", true},
		{"+44 7911 123456", "GB", true},
		{"+44 7911 123456", "DE", false},
		{"0151 23456789", "DE", true},
		{"0151 23456789", "GB", false},
		{"(212) 555-0123", "US", true},
		{"n/a", "GB", false},
		{"07911 123456", "", false},
		{"", "GB", false},
	} {
		if valid := convert.IsPhoneIn(c.text, c.region); valid != c.valid {
			t.Errorf("%s in %s: %t", c.text, c.region, valid)
		}
	}
}

// An invented number is as a Converter of the format and region writes numbers, and its last
// digits differ from time to time.
func TestInventPhone(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "e164", "national", "international"} {
		for _, region := range []string{"", "GB", "de", "US", "IT", "FR", "AU", "PL"} {
			c, seen := convert.Converter{Type: convert.Phone, Format: format, Region: region}, map[string]bool{}
			for range 20 {
				number := convert.InventPhone(format, region)
				if region == "" && format == "national" {
					continue // such a number has no country to read it by
				}
				if got, err := c.Convert(text(number)); err != nil || got.Literal != number {
					t.Fatalf("%s in %q is read as %v, %v", number, region, got, err)
				}
				seen[number] = true
			}
			if len(seen) == 1 {
				t.Errorf("%s in %q: always the same", format, region)
			}
		}
	}
}
