package convert

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nyaruka/phonenumbers"
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

func FuzzUsualNumbers(f *testing.F) {
	for _, digits := range []string{"07911123456", "+447911123456", "+4407911123456", "00447911123456", "447911123456", "0", "+", "+44", "2125550123", "12125550123", "+8001234567"} {
		for _, region := range []string{"GB", "DE", "US", "IT", "GG", "RU", "BR", ""} {
			f.Add(digits, region)
		}
	}
	f.Fuzz(func(t *testing.T, text, region string) {
		digits, _ := dialled(text)
		checkUsual(t, digits, region)
	})
}
