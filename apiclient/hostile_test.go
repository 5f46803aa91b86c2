package apiclient_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/testform"
)

// answerBodies are JSON answers to the creation of a contact, each with the id that
// it certainly holds; "" for none.
var answerBodies = []struct{ name, body, id string }{
	{"plain", `{"contactId":"a-1"}`, "a-1"},
	{"uuid", `{"contactId":"7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"}`, "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"},
	{"number", `{"contactId":42}`, "42"},
	{"number above 2^53", `{"contactId":9007199254740993}`, "9007199254740993"},
	{"number above 2^64", `{"contactId":18446744073709551617}`, "18446744073709551617"},
	{"number with an exponent", `{"contactId":9e15}`, ""},
	{"number with a fraction", `{"contactId":1.0}`, ""},
	{"leading zeros", `{"contactId":"007"}`, "007"},
	{"spaces around", "\r\n\t {\"contactId\" : \"a-1\"}\n\n", "a-1"},
	{"unicode", `{"contactId":"é😀"}`, "é😀"},
	{"escapes", `{"contactId":"\u00e9\ud83d\ude00\/"}`, "é😀/"},
	{"escaped key", `{"contact\u0049d":"a-1"}`, "a-1"},
	{"half a surrogate", `{"contactId":"a\ud83d"}`, ""},
	{"surrogates in the wrong order", `{"contactId":"\ude00\ud83d"}`, ""},
	{"replacement character", `{"contactId":"a` + "\ufffd" + `"}`, ""},
	{"invalid UTF-8", "{\"contactId\":\"a\xff\"}", ""},
	{"byte order mark", "\ufeff" + `{"contactId":"a-1"}`, "a-1"},
	{"key twice, the same", `{"contactId":"a-1","contactId":"a-1"}`, ""},
	{"key twice, different", `{"contactId":"a-1","contactId":"a-2"}`, ""},
	{"key twice, one null", `{"contactId":"a-1","contactId":null}`, ""},
	{"key twice, one escaped", `{"contactId":"a-1","contact\u0049d":"a-2"}`, ""},
	{"keys in both cases", `{"ContactID":"a-2","contactId":"a-1"}`, "a-1"},
	{"nested", `{"data":{"contactId":"a-1"}}`, ""},
	{"id as an object", `{"contactId":{"value":"a-1"}}`, ""},
	{"id null", `{"contactId":null}`, ""},
	{"id true", `{"contactId":true}`, ""},
	{"id blank", `{"contactId":" \t"}`, ""},
	{"id with a line break", `{"contactId":"a\n1"}`, ""},
	{"id with NUL", `{"contactId":"a\u00001"}`, ""},
	{"id of dots", `{"contactId":".."}`, ""},
	{"array", `[{"contactId":"a-1"}]`, ""},
	{"null", `null`, ""},
	{"text", `"a-1"`, ""},
	{"empty", ``, ""},
	{"trailing data", `{"contactId":"a-1"} x`, ""},
	{"two documents", `{"contactId":"a-1"}` + "\n" + `{"contactId":"a-2"}`, ""},
	{"trailing comma", `{"contactId":"a-1",}`, ""},
	{"nested 100,000 deep", `{"contactId":"a-1","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, ""},
	{"nested 9,000 deep", `{"contactId":"a-1","x":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, "a-1"},
	{"10,000 other keys", "{" + strings.Repeat(`"x":1,`, 10_000) + `"contactId":"a-1"}`, "a-1"},
	{"10,000 times the same key", "{" + strings.Repeat(`"contactId":"a-1",`, 10_000) + `"contactId":"a-2"}`, ""},
	{"a number of a million digits", `{"contactId":"a-1","x":` + strings.Repeat("9", 1_000_000) + `}`, "a-1"},
	{"1 MiB in all", pad(`{"contactId":"a-1"}`, 1<<20), "a-1"},
	{"one byte more", pad(`{"contactId":"a-1"}`, 1<<20+1), ""},
}

// pad adds blanks to a body.
func pad(body string, length int) string { return body + strings.Repeat(" ", length-len(body)) }

// The id is exact or the outcome is uncertain; that of a look-up is exact or the
// look-up fails.
func TestAnIDIsExactOrThereIsNone(t *testing.T) {
	t.Parallel()
	for _, tt := range answerBodies {
		t.Run(tt.name, func(t *testing.T) {
			s := apitest.StartRaw(t, nil, apitest.Whole("201 x", tt.body))
			c := at(t, s.URL)
			want := apiclient.Created
			if tt.id == "" {
				want = apiclient.Uncertain
			}
			if v := c.Create(t.Context(), createContact(c)); v.Effect != want || v.ID != tt.id {
				t.Errorf("%s with id %q; want %s with %q", v.Effect, v.ID, want, tt.id)
			}
			if tt.name == "array" || tt.name == "null" {
				return // a look-up takes a list of one, and null for nobody
			}
			found, err := c.Find(t.Context(), apiclient.ByEmail, "jane@example.com")
			if found.ID != tt.id || found.Absent || (err == nil) != (tt.id != "") {
				t.Errorf("a look-up: id %q, absent %v, %v; want %q", found.ID, found.Absent, err, tt.id)
			}
		})
	}
}

// zipped is a text as gzip.
func zipped(text string) string {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return member.String()
}

// endlessly writes text until a GiB has gone out or the client stops reading.
func endlessly(before, text string) apitest.RawReply {
	return func(v apitest.RawRequest) bool {
		v.ReadBody()
		_, err := io.WriteString(v, before)
		block := strings.Repeat(text, 64<<10/len(text)+1)
		for sent := 0; err == nil && sent < 1<<30; sent += len(block) {
			_, err = io.WriteString(v, block)
		}
		return false
	}
}

// However much a service sends, the client keeps little of it in memory.
func TestAnswersWithoutEndTakeLittleMemory(t *testing.T) {
	testform.OnlyLong(t)
	const ok = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
	packed := strings.Repeat(zipped(strings.Repeat(" ", 16<<20)), 64) // 1 GiB of blanks, as about 1 MB
	floods := map[string]apitest.RawReply{
		"body without a length": endlessly(ok+"\r\n", " "),
		"body in chunks":        endlessly(ok+"Transfer-Encoding: chunked\r\n\r\n", "1000\r\n"+strings.Repeat(" ", 4096)+"\r\n"),
		"body in chunks of one": endlessly(ok+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"),
		"trailer":               endlessly(ok+"Transfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"),
		"headers":               endlessly(ok, "X-Header: y\r\n"),
		"status line":           endlessly("HTTP/1.1 201 ", "y"),
		"interim answers":       endlessly("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
		"gzip of 1 GiB":         apitest.Bytes(fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", ok, len(packed), packed)),
	}
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			s := apitest.StartRaw(t, nil, flood)
			c := at(t, s.URL)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			v := c.Create(t.Context(), createContact(c))
			runtime.ReadMemStats(&after)
			if v.Effect != apiclient.Uncertain || s.Arrived() != 1 {
				t.Errorf("%s (%s), %d arrived; want uncertain, 1", v.Effect, v.Reason, s.Arrived())
			}
			// All that was allocated, by the service too: more than what was ever held.
			taken := (after.TotalAlloc - before.TotalAlloc) >> 20
			if taken > 64 {
				t.Errorf("%d MiB were allocated", taken)
			}
			t.Logf("%d MiB allocated, %d MiB of heap", taken, after.HeapSys>>20)
		})
	}
}

// An id or a url that is longer than a cell of a workbook does not count: it would
// be cut on its way to people.
func TestWhatNoCellHoldsIsNoID(t *testing.T) {
	for n, sound := range map[int]bool{32_767: true, 32_768: false} {
		c := with(t)
		id := strings.Repeat("a", n)
		v := c.Judge(createContact(c), apiclient.Answer{Status: 201, Body: []byte(`{"contactId":"` + id + `"}`)}, nil)
		if (v.Effect == apiclient.Created) != sound || !sound && !strings.Contains(v.Reason, "longer than a cell") || !strings.Contains(string(v.Answer), id) {
			t.Errorf("an id of %d characters: %s, %s", n, v.Effect, v.Reason)
		}
		url := "https://x.example/" + strings.Repeat("a", n-18)
		v = c.Judge(c.Routes().CreateLink("c", nil), apiclient.Answer{Status: 201, Body: []byte(`{"redirectUrl":"` + url + `"}`)}, nil)
		if (v.Effect == apiclient.Created) != sound || !strings.Contains(string(v.Answer), url) {
			t.Errorf("a url of %d characters: %s, %s", n, v.Effect, v.Reason)
		}
		first := client(t, config(apiclient.V1))
		v = first.Judge(createContact(first), apiclient.Answer{Status: 201, Body: []byte(`{"clientId":"a","redirectUrl":"` + url + `"}`)}, nil)
		if v.Effect != apiclient.Created || (v.URL != "") != sound || strings.Contains(v.Reason, "longer than a cell") == sound {
			t.Errorf("a client with a url of %d characters: %s, %q", n, v.Effect, v.Reason)
		}
	}
}
