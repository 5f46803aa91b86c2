package convert_test

import (
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"

	"claimsheet/mapping/convert"
)

func TestConvertEmail(t *testing.T) {
	c := convert.Converter{Type: convert.Email}
	const bad, domain = "not-email", "email-domain"
	runConversions(t, []conversionCase{
		{"plain", c, text("sam.leaf+a@example.com"), `"sam.leaf+a@example.com"`, ""},
		{"domain in lower case", c, text("Sam@Example.COM"), `"Sam@example.com"`, ""},
		{"international domain", c, text("sam@Bücher.example"), `"sam@xn--bcher-kva.example"`, ""},
		{"local part that is not ASCII", c, text("zoë@example.com"), "", bad},
		{"two addresses", c, text("a@example.com; b@example.com"), "", bad},
		{"display name", c, text("Sam <sam@example.com>"), "", bad},
		{"nothing after @", c, text("sam@"), "", domain},
		{"space inside", c, text("sam leaf@example.com"), "", bad},
		{"dots in a row", c, text("sam..leaf@example.com"), "", bad},
		{"no top-level domain", c, text("sam@gmail"), "", domain},
		{"bare IP address", c, text("sam@192.0.2.1"), "", domain},
		{"hyphen at the edge", c, text("sam@-example.com"), "", domain},
		{"long local part", c, text(strings.Repeat("a", 65) + "@example.com"), "", bad},
		{"long address", c, text("sam@" + strings.Repeat("abcdefghi.", 26) + "com"), "", bad},
		{"long label", c, text("sam@" + strings.Repeat("a", 64) + ".com"), "", domain},
		{"max_length", convert.Converter{Type: convert.Email, MaxLength: 5}, text("sam@example.com"), "", "too-long"},
	})
}

func TestConvertPhone(t *testing.T) {
	c := convert.Converter{Type: convert.Phone, Region: "GB"}
	with := func(format string) convert.Converter {
		return convert.Converter{Type: convert.Phone, Region: "GB", Format: format}
	}
	anywhere := convert.Converter{Type: convert.Phone}
	italy := convert.Converter{Type: convert.Phone, Region: "IT"}
	const london, bad = `"+442079460018"`, "not-phone"
	runConversions(t, []conversionCase{
		{"national", c, text("020 7946 0018"), london, ""},
		{"international", c, text("+44 20 7946 0018"), london, ""},
		{"with the trunk zero", c, text("+44 (0)20 7946 0018"), london, ""},
		{"with 00", c, text("0044 20 7946 0018"), london, ""},
		{"typographic dash and no-break space", c, text("020\u00a07946–0018"), london, ""},
		{"another country", c, text("+49 30 901820"), `"+4930901820"`, ""},
		{"Italian zero stays", italy, text("06 698 12345"), `"+390669812345"`, ""},
		{"no region, with +", anywhere, text("+442079460018"), london, ""},
		{"no region, no +", anywhere, text("020 7946 0018"), "", "phone-region"},
		{"international format", with("international"), text("02079460018"), `"+44 20 7946 0018"`, ""},
		{"raw", with("raw"), text(" call 07700 "), `"call 07700"`, ""},
		{"raw of nothing", with("raw"), text("\u200e"), "", bad},
		{"digits missing behind the trunk zero", c, text("077009001"), "", bad},
		{"trunk zero and nothing missing", c, text("0800 1111"), `"+448001111"`, ""},
		{"negative number", c, number("-7700900123"), "", bad},
		{"a range that nobody has been given yet", c, text("0999 999 9999"), `"+449999999999"`, ""},
		{"extension", c, text("020 7946 0018 x5"), "", bad},
		{"label", c, text("home: 020 7946 0018"), "", bad},
		{"number shown with its zero", c, formatted("2079460018", "02079460018", "00000000000"), london, ""},
		{"number in scientific format", c, formatted("442079460018", "4.42E+11", "0.00E+00"), "", "number-scientific"},
	})
}

// TestPhoneWithoutPunctuation: a number means the same with and
// without what people write between its digits: the library, asked about the
// cell as it stands, must agree.
func TestPhoneWithoutPunctuation(t *testing.T) {
	between := []string{"", "", "", " ", "-", "(", ")", ".", "/", "\u00a0", "–", "\u2212", "\u200b", "(0)", "  "}
	digits := strings.Split("0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 ٤ ４", " ")
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]string{"", "0", "+44", "＋44 ", "+39 0", "＋1", "0044", "(020) ", "+"}).Draw(t, "start")
		for range rapid.IntRange(6, 12).Draw(t, "digits") {
			s += rapid.SampledFrom(digits).Draw(t, "digit") + rapid.SampledFrom(between).Draw(t, "between")
		}
		region := rapid.SampledFrom([]string{"GB", "IT", "US", "DE"}).Draw(t, "region")
		want := ""
		number, err := phonenumbers.Parse(s, region)
		if err == nil && number.GetItalianLeadingZero() && number.GetCountryCode() != 39 {
			return
		}
		if err == nil && phonenumbers.IsPossibleNumberWithReason(number) == phonenumbers.IS_POSSIBLE {
			want = phonenumbers.Format(number, phonenumbers.E164)
		}
		got, _ := (&convert.Converter{Type: convert.Phone, Region: region}).Convert(text(s))
		if got.Literal != want {
			t.Errorf("%q in %s is %q without what is between its digits and %q with it", s, region, got.Literal, want)
		}
	})
}
