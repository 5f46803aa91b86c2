package convert_test

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"claimsheet/mapping/convert"
)

// unseen are characters that a reader of a sheet does not see.
var unseen = []string{
	"\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u180b", "\u180e", "\u200b", "\u200c", "\u200d", "\u200e", "\u202a", "\u2060",
	"\u2064", "\u2066", "\u206f", "\ufe00", "\ufe0f", "\ufeff", "\U0001d173", "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100",
}

// One key never becomes two by what cannot be seen in it.
func TestKeysIgnoreWhatCannotBeSeen(t *testing.T) {
	for _, s := range unseen {
		for _, cell := range []string{"A" + s + "1", s + "A1", "A1" + s, "A" + s + s + "1"} {
			if key, refusal := convert.Key(text(cell)); refusal != nil || key != "A1" {
				t.Errorf("the key %+q is %+q (%v)", cell, key, refusal)
			}
		}
		if _, refusal := convert.Key(text(s)); refusal == nil {
			t.Errorf("%+q alone is a key", s)
		}
	}
	for _, gap := range []string{"\u2800", "\u3164", "\uffa0", "\u00a0", "\u3000"} {
		if key, refusal := convert.Key(text("A" + gap + "1" + gap)); refusal != nil || key != "A 1" {
			t.Errorf("the key with the gap %+q is %+q (%v)", gap, key, refusal)
		}
	}
	// Accents compose across what is dropped.
	if key, _ := convert.Key(text("Zoe\u034f\u0308")); key != "Zoë" {
		t.Errorf("the key is %+q", key)
	}
}

// What can be seen stays: letters of all scripts, and every key that keeps to
// them is what it was.
func TestKeysKeepWhatCanBeSeen(t *testing.T) {
	for r := rune(0x21); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Mn, r) || r == '\u2800' || 0x13430 <= r && r <= 0x13455 || // controls of hieroglyphs
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			continue
		}
		want := norm.NFC.String("a" + string(r) + "b")
		if key, refusal := convert.Key(text("a" + string(r) + "b")); refusal == nil && key != want {
			t.Errorf("%U: the key is %+q", r, key)
		}
	}
}
