package apiclient_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"claimsheet/apiclient"
)

func TestCheckPointer(t *testing.T) {
	for pointer, want := range map[string]string{
		"": "", "/": "", "/a": "", "/a/0/b": "", "/a~0b~1c": "", "/a b": "",
		"a": `write "/a"`, "a.b": `write "/a/b"`, "/a~": "~0", "/a~2": "~0", "#/a": "slash",
	} {
		err := apiclient.CheckPointer(pointer)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", pointer, err, want)
		}
	}
}

// readingID returns a client that reads the id of a contact at a place.
func readingID(t testing.TB, place string) *apiclient.Client {
	t.Helper()
	return with(t, func(cfg *apiclient.Config) { cfg.Wire.ContactID = place })
}

func TestPointersReachEveryPlace(t *testing.T) {
	body := `{"a":{"b/c":{"d~e":[{"":"deep"}]}},"01":"key"}`
	for pointer, want := range map[string]string{
		"/a/b~1c/d~0e/0/": "deep", "/01": "key", "/a/b~1c/d~0e/00/": "", "/a/b~1c/d~0e/1/": "", "/a/b~1c/d~0e/-/": "", "/A": "",
	} {
		v := readingID(t, pointer).Judge(apiclient.Request{Kind: apiclient.CreateClient}, apiclient.Answer{Status: 200, Body: []byte(body)}, nil)
		if v.ID != want {
			t.Errorf("%s: id %q, want %q", pointer, v.ID, want)
		}
	}
}

// Whatever the pointer and the answer are: there is no panic, an id comes only from
// a valid JSON answer, and it can be used in a path.
func FuzzIDExtraction(f *testing.F) {
	for _, seed := range [][2]string{
		{"/contactId", `{"contactId":"a"}`}, {"/a/0/b", `{"a":[{"b":1}]}`}, {"", `"a"`}, {"", `12`},
		{"/~0~1", `{"~/":"x","~/":"y"}`}, {"/a", "\ufeff{\"a\":\"\\ud800\"}"}, {"/a", `{"a":1e3}`}, {"x", `{`}, {"/0", `[[[`},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, pointer string, body []byte) {
		if apiclient.CheckPointer(pointer) != nil {
			return
		}
		v := readingID(t, pointer).Judge(apiclient.Request{Kind: apiclient.CreateClient}, apiclient.Answer{Status: 200, Body: body}, nil)
		if (v.ID != "") != (v.Effect == apiclient.Created) || (v.Reason == "") != (v.Effect == apiclient.Created) {
			t.Fatalf("%q in %q: %+v", pointer, body, v)
		}
		if v.ID == "" {
			return
		}
		if !json.Valid([]byte(strings.TrimPrefix(string(body), "\ufeff"))) {
			t.Fatalf("the id %q is from what is not JSON: %q", v.ID, body)
		}
		if strings.TrimSpace(v.ID) != v.ID || requestURI(t, v.ID) == "" {
			t.Fatalf("the id %q cannot be used", v.ID)
		}
	})
}

// The values of a document are those that encoding/json finds.
func FuzzAt(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{},[],"x]",-1.5e3,null,true]}`, ` [ 1 , "\"" , {"a" : "\\"} ] `, `{"a\u0062":"\ud83d\ude00","":{"a":[]}}`, `"]"`, `[]`, ` {} `, `[`, `{"a"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if !utf8.Valid(document) {
			return
		}
		if _, ok := apiclient.At(document, ""); ok != json.Valid(document) {
			t.Fatalf("%q is JSON: %v", document, ok)
		}
		var list []json.RawMessage
		if json.Unmarshal(document, &list) == nil {
			for i, want := range list {
				if got, ok := apiclient.At(document, fmt.Sprintf("/%d", i)); !ok || !bytes.Equal(got, want) {
					t.Errorf("%q, %d: %q, want %q", document, i, got, want)
				}
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(document, &object) == nil {
			for key, want := range object {
				got, ok := apiclient.At(document, "/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
				if ok && !bytes.Equal(got, want) || !ok && strings.Count(string(document), ":") < 2 { // a repeated key
					t.Errorf("%q, %q: %q, want %q", document, key, got, want)
				}
			}
		}
		var text string
		if json.Unmarshal(document, &text) == nil && document[0] == '"' {
			if got, ok := apiclient.ScalarText(document); !ok || got != text {
				t.Errorf("%q: %q, want %q", document, got, text)
			}
		}
	})
}
