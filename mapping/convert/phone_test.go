package convert

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"claimsheet/mapping/cell"
)

// checkUsual compares a number that usualNumber reads with the library's reading.
func checkUsual(t *testing.T, digits, region string) (usual bool) {
	t.Helper()
	got, ok := usualNumber(digits, region)
	if !ok {
		return false
	}
	want := possibleNumber(digits, region)
	if want == nil {
		t.Fatalf("%s in %s is %s; the library refuses it", digits, region, got)
	}
	if want := phonenumbers.Format(want, phonenumbers.E164); got != want {
		t.Fatalf("%s in %s is %s; the library has %s", digits, region, got, want)
	}
	return true
}

// Every region, numbers of every length, with and without what is dialled before them.
func TestUsualNumbersAreTheLibrarys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		s := make([]byte, n)
		for i := range s {
			s[i] = byte('0' + random.IntN(10))
		}
		return string(s)
	}
	all, usual := 0, 0
	for region := range phonenumbers.GetSupportedRegions() {
		code := strconv.Itoa(phonenumbers.GetCountryCodeForRegion(region))
		trunk := phonenumbers.GetNddPrefixForRegion(region, true)
		for _, prefix := range []string{"", trunk, "0", "1", "8", "00", "011", code, code + trunk, "00" + code, "+" + code, "+" + code + trunk, "+"} {
			for n := range 16 {
				all++
				if checkUsual(t, prefix+digits(n), region) {
					usual++
				}
			}
		}
		for kind := phonenumbers.FIXED_LINE; kind <= phonenumbers.VOICEMAIL; kind++ {
			if example := phonenumbers.GetExampleNumberForType(region, kind); example != nil {
				number := phonenumbers.GetNationalSignificantNumber(example)
				checkUsual(t, number, region)
				checkUsual(t, trunk+number, region)
				checkUsual(t, "+"+code+number, region)
			}
		}
	}
	if usual < all/40 {
		t.Errorf("%d of %d numbers are usual ones", usual, all)
	}
	for _, c := range []struct{ digits, region string }{{"07911123456", "GB"}, {"02079460018", "GB"}, {"+447911123456", ""}, {"030123456", "DE"}, {"+12125550123", "GB"}, {"2125550123", "US"}} {
		if !checkUsual(t, c.digits, c.region) {
			t.Errorf("%s in %s is not a usual number", c.digits, c.region)
		}
	}
}

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
		if valid := IsPhoneIn(c.text, c.region); valid != c.valid {
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
			c, seen := &Converter{Type: Phone, Format: format, Region: region}, map[string]bool{}
			for range 20 {
				number := InventPhone(format, region)
				if region == "" && format == "national" {
					continue // such a number has no country to read it by
				}
				if got, err := c.Convert(cell.Cell{Kind: cell.Text, Raw: number, Shown: number}); err != nil || got.Literal != number {
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
