package convert

import "testing"

// A number tells its region only where the region's plan assigns it.
func TestPhoneIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, region  string
		valid, mobile bool
	}{
		{"07911 123456", "GB", true, true},
		{"020 7946 0958", "GB", true, false},
		{"+44 7911 123456", "GB", true, true},
		{"+44 7911 123456", "DE", false, false},
		{"0151 23456789", "DE", true, true},
		{"0151 23456789", "GB", false, false},
		{"(212) 555-0123", "US", true, true},
		{"n/a", "GB", false, false},
		{"", "GB", false, false},
	} {
		if valid, mobile := PhoneIn(c.text, c.region); valid != c.valid || mobile != c.mobile {
			t.Errorf("%s in %s: %t, %t", c.text, c.region, valid, mobile)
		}
	}
}
