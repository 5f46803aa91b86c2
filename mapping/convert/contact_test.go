package convert_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"claimsheet/importer/testform"
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

// TestPhonesAreTheLibrarys: numbers that are read without the library are read as it reads them, with and without what is dialled
// before them and what people write between their digits.
func TestPhonesAreTheLibrarys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	compared := 0
	for range testform.LongOr(40_000, 6_000) {
		s := pick("", "0", "8", "00", "44", "440", "0044", "+44", "＋44 ", "+440", "+", "(0) ", "+49", "+1")
		for range random.IntN(13) {
			s += strconv.Itoa(random.IntN(10)) + pick("", "", "", "", "", " ", "-", "(", ")", ".", "/", "\u00a0", "–", "\u2212", "\u200b", "(0)", "  ")
		}
		region, want := pick("GB", "GB", "JE", "DE"), ""
		number, err := phonenumbers.Parse(s, region)
		if err == nil && number.GetItalianLeadingZero() {
			continue
		}
		if err == nil && phonenumbers.IsPossibleNumberWithReason(number) == phonenumbers.IS_POSSIBLE {
			want = phonenumbers.Format(number, phonenumbers.E164)
			compared++
		}
		if got, _ := (&convert.Converter{Type: convert.Phone, Region: region}).Convert(text(s)); got.Literal != want {
			t.Errorf("%q in %s is %q, and the library reads %q", s, region, got.Literal, want)
		}
	}
	if compared < 1000 {
		t.Errorf("only %d were numbers", compared)
	}
}
