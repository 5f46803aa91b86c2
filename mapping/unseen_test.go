package mapping_test

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"claimsheet/mapping"
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
			if key, refusal := mapping.KeyText(text(cell)); refusal != nil || key != "A1" {
				t.Errorf("the key %+q is %+q (%v)", cell, key, refusal)
			}
		}
		if _, refusal := mapping.KeyText(text(s)); refusal == nil {
			t.Errorf("%+q alone is a key", s)
		}
	}
	for _, gap := range []string{"\u2800", "\u3164", "\uffa0", "\u00a0", "\u3000"} {
		if key, refusal := mapping.KeyText(text("A" + gap + "1" + gap)); refusal != nil || key != "A 1" {
			t.Errorf("the key with the gap %+q is %+q (%v)", gap, key, refusal)
		}
	}
	// A joiner is seen where letters are written joined, and there alone: not
	// behind a letter that joins with none after it.
	for cell, want := range map[string]string{
		"می\u200cخواهم": "می\u200cخواهم", "क्\u200dष": "क्\u200dष", "دا\u200cد": "داد", "م\u200dی": "می", "ا\u200c1": "ا1", "\u200cمی": "می",
	} {
		if key, _ := mapping.KeyText(text(cell)); key != want {
			t.Errorf("the key %+q is %+q, want %+q", cell, key, want)
		}
	}
	// Accents compose across what is dropped.
	if key, _ := mapping.KeyText(text("Zoe\u034f\u0308")); key != "Zoë" {
		t.Errorf("the key is %+q", key)
	}
}

// What can be seen stays: letters of all scripts, and every key that keeps to
// them is what it was.
func TestKeysKeepWhatCanBeSeen(t *testing.T) {
	for r := rune(0x21); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Mn, r) || r == '\u2800' ||
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			continue
		}
		want := norm.NFC.String("a" + string(r) + "b")
		if key, refusal := mapping.KeyText(text("a" + string(r) + "b")); refusal == nil && key != want {
			t.Errorf("%U: the key is %+q", r, key)
		}
	}
}

// One address is one client, however it is written; two addresses are two.
func TestEmailKeysFold(t *testing.T) {
	const source = "name: a\napi: v1\nclient: {key: Mail, lookup: {email: Mail}, fields: {mail: Mail}}\n"
	key := func(address string) string {
		t.Helper()
		sheet, records := leads("Mail | x", address+" | x")
		lead := mustBind(t, source, sheet, nil).Read(records[0])
		if len(lead.Problems) > 0 {
			return lead.Problems[0].Message
		}
		return lead.Client.Key
	}
	for _, same := range [][]string{
		{"sam@example.com", "SAM@EXAMPLE.COM", "ſam@example.com"},
		{"γιωργος@example.com", "ΓΙΩΡΓΟΣ@example.com", "γιωργοσ@example.com"},
		{"a@straße.example", "A@STRAẞE.example", "a@xn--strae-oqa.example", "a@XN--STRAE-OQA.EXAMPLE", "a@stra\u00adße.example"},
		{"strauß@example.com", "STRAUẞ@example.com"},
		{"a@bücher.example", "a@BÜCHER.EXAMPLE", "a@bu\u0308cher.example", "a@xn--bcher-kva.example"},
		{"ısık@example.com", "ıSık@example.com"},
	} {
		for _, address := range same[1:] {
			if key(address) != key(same[0]) {
				t.Errorf("%q has the key %q, and %q has %q", same[0], key(same[0]), address, key(address))
			}
		}
	}
	for _, apart := range [][2]string{
		{"strauß@example.com", "strauss@example.com"}, {"a@straße.example", "a@strasse.example"}, {"ısık@example.com", "isik@example.com"},
	} {
		if key(apart[0]) == key(apart[1]) {
			t.Errorf("%q and %q have one key", apart[0], apart[1])
		}
	}
	for _, s := range unseen {
		if got := key("sa" + s + "m@example.com"); got != "Mail has a character before the @ that cannot be seen" {
			t.Errorf("the address with %+q has the key %q", s, got)
		}
	}
	// Keys that ledgers have stay what they are.
	for address, want := range map[string]string{
		"Sam.Leaf+A@Example.COM": "sam.leaf+a@example.com", "ZOË@example.com": "zoë@example.com", "Жанна@example.com": "жанна@example.com",
	} {
		if got := key(address); got != want {
			t.Errorf("%q has the key %q, want %q", address, got, want)
		}
	}
}
