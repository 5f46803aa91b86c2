package apiclient_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

const classification = "testdata/classification.md"

// column is a kind of request in the table.
type column struct {
	name string
	kind apiclient.Kind
	// key is where a sound answer has its id or url.
	key string
	// request makes it; pad makes its body larger.
	request func(r apiclient.Routes, pad string) apiclient.Request
}

var columns = []column{
	{"templates", apiclient.ReadTemplates, "id", nil},
	{"look-up", apiclient.FindClient, "contactId", nil},
	{"client", apiclient.CreateClient, "contactId", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateClient([]byte(`{"email":"jane@example.com","note":"`+pad+`"}`), true)
	}},
	{"claim", apiclient.CreateClaim, "claimId", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateClaim("contact-1", []string{"contact-1"}, "A claim"+pad)
	}},
	{"activity", apiclient.CreateActivity, "id", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateActivity("contact-1", "claim-1", apiclient.Activity{TemplateID: "t", Status: "Submitted",
			WorkflowName: "w", WorkflowTemplateIdentifier: "i",
			Attributes: []apiclient.Attribute{{TemplateID: "a", Field: "stringValue", Value: []byte(`"` + pad + `"`)}}})
	}},
	{"Open activity", apiclient.CreateActivity, "id", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateActivity("contact-1", "", apiclient.Activity{TemplateID: "t", Status: "Open",
			WorkflowName: "w" + pad, WorkflowTemplateIdentifier: "i"})
	}},
	{"link", apiclient.CreateLink, "redirectUrl", func(r apiclient.Routes, pad string) apiclient.Request {
		return r.CreateLink("contact-1", []byte(`{"note":"`+pad+`"}`))
	}},
}

// attempt sends one request of the column and describes the result in the words of
// the table.
func (col column) attempt(ctx context.Context, c *apiclient.Client, pad string) string {
	switch col.kind {
	case apiclient.ReadTemplates:
		_, _, err := c.Templates(ctx)
		return inWords("read", err)
	case apiclient.FindClient:
		found, err := c.Find(ctx, apiclient.ByEmail, "jane@example.com")
		if found.Absent {
			return inWords("absent", err)
		}
		return inWords("found", err)
	}
	v := c.Create(ctx, col.request(c.Routes(), pad))
	words := string(v.Effect) + retries[v.Retry]
	if id := v.ID + v.URL; id != "" && id != soundID {
		words += ", id " + id
	}
	if v.RetryAfter > 0 {
		words += ", wait " + v.RetryAfter.String()
	}
	if v.Stop {
		words += ", stop"
	}
	return words
}

// retries are the words for when a request may be sent again.
var retries = map[apiclient.Retry]string{apiclient.Now: ", retry", apiclient.AfterPause: ", retry later"}

func inWords(success string, err error) string {
	f, failed := errors.AsType[*apiclient.Failure](err)
	if !failed {
		return success
	}
	words := "fails"
	if f.NotSent {
		words += ", not sent"
	}
	if words += retries[f.Retry]; f.Stop {
		words += ", stop"
	}
	return words
}

// fault is one way in which a request can fail.
type fault struct {
	url    string                        // an address without a service; otherwise there is one:
	accept func(*net.TCPConn)            // one that fails before HTTP,
	answer func(column) apitest.RawReply // or one that answers
	tls    bool                          // over https
	server func(*tls.Config)             // what is special about its TLS
	change func(*apiclient.Config)       // what is special about the environment

	attempts int  // 1 if 0; the last one is judged
	large    bool // the request does not fit into the buffers
	kept     bool // after a good request, the service breaks down
	slow     bool // it takes a time-out
}

// faults are the faults of the table, by name.
type faults map[string]fault

var bareStatus = regexp.MustCompile(`^HTTP (\d{3})( for 7 s)?(?:, rule (\w+))?$`)

// named returns the fault with that name; a bare status, with Retry-After and a rule for it, needs no entry.
func (fs faults) named(name string) (fault, bool) {
	if m := bareStatus.FindStringSubmatch(name); m != nil {
		f := fault{answer: same(status(m[1]))}
		if m[2] != "" {
			f.answer = same(status(m[1], "Retry-After: 7"))
		}
		if m[3] != "" {
			f.change = ruled(m[1], m[3])
		}
		return f, true
	}
	f, ok := fs[name]
	return f, ok
}

// play sends a column's request to a service with a fault. It returns the result of
// the last attempt, how many requests arrived and how many the client counted.
func play(t *testing.T, f fault, col column) (got string, arrived int64, sent int) {
	cfg := config(apiclient.V2)
	cfg.BaseURL = f.url
	var s *apitest.Raw
	switch {
	case f.accept != nil:
		address := apitest.Listen(t, f.accept).Addr().String()
		cfg.BaseURL = "http://" + address
		if f.tls {
			cfg.BaseURL = "https://" + address
		}
	case f.answer != nil:
		server, trust := secured(t, f.tls)
		trust(&cfg)
		if f.server != nil {
			f.server(server)
		}
		s = apitest.StartRaw(t, server, f.answer(col))
		cfg.BaseURL = s.URL
	}
	if f.change != nil {
		f.change(&cfg)
	}
	c := client(t, cfg)
	if s == nil {
		got = col.attempt(t.Context(), c, "")
		return got, 0, c.Sent()[col.kind]
	}
	// Without a connection nothing can be learnt: the cell shows that.
	_ = c.LearnAbsent(t.Context(), apiclient.ByEmail)
	if f.kept {
		if _, _, err := c.Templates(t.Context()); err != nil {
			t.Errorf("before the fault: %v", err)
		}
		s.BreakDown()
	}
	arrivedBefore, sentBefore := s.Arrived(), c.Sent()[col.kind]
	pad := ""
	if f.large {
		pad = strings.Repeat("x", 8<<20)
	}
	for range max(1, f.attempts) {
		got = col.attempt(t.Context(), c, pad)
	}
	return got, s.Arrived() - arrivedBefore, c.Sent()[col.kind] - sentBefore
}

// same is an answer that does not depend on the request.
func same(r apitest.RawReply) func(column) apitest.RawReply {
	return func(column) apitest.RawReply { return r }
}

// status is a complete answer with that status and nothing else to read.
func status(code string, headers ...string) apitest.RawReply {
	body := `{"message":"no"}`
	if code == "204" || code == "205" {
		body = ""
	}
	return apitest.Whole(code+" x", body, append([]string{"Location: /elsewhere"}, headers...)...)
}

// newFaults lists the faults of the table, in its order.
func newFaults(t *testing.T) faults {
	over := make(chan struct{}) // ends what is silent
	t.Cleanup(func() { close(over) })
	silence := func(v apitest.RawRequest) bool { v.ReadBody(); <-over; return false }
	unread408 := func(v apitest.RawRequest) bool { // so that no reset overtakes the answer
		_, _ = io.WriteString(v, "HTTP/1.1 408 x\r\nContent-Length: 0\r\n\r\n")
		<-over
		return false
	}
	hastily := func(cfg *apiclient.Config) { cfg.Timeout = 2 * time.Second }
	impatiently := func(cfg *apiclient.Config) { cfg.ConnectTimeout = 500 * time.Millisecond }
	behindProxy := func(status string) func(cfg *apiclient.Config) {
		proxy := apitest.StartProxy(t, func(*http.Request) string {
			if status == "" {
				return ""
			}
			return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n"
		})
		return func(cfg *apiclient.Config) { cfg.Proxy = &apiclient.Proxy{URL: proxy.URL} }
	}
	return faults{
		"unknown host":       {url: "https://nowhere.invalid"},
		"connection refused": {url: "http://" + refusing(t)},
		"no route":           {url: "https://255.255.255.255"},
		"dial time-out":      {url: "http://127.0.0.1:1", change: func(cfg *apiclient.Config) { cfg.ConnectTimeout = time.Nanosecond }},
		"a proxy on the way refuses": {tls: true, accept: func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn)
		}},
		"the environment's proxy refuses":        {tls: true, answer: sound, change: behindProxy("403 Forbidden")},
		"the environment's proxy cannot connect": {tls: true, answer: sound, change: behindProxy("502 Bad Gateway")},
		"handshake time-out":                     {tls: true, change: impatiently, slow: true, accept: func(*net.TCPConn) { <-over }},
		"handshake reset":                        {tls: true, accept: func(conn *net.TCPConn) { _ = conn.SetLinger(0) }},

		"certificate of an unknown authority": {tls: true, answer: sound, change: func(cfg *apiclient.Config) { cfg.TLS = nil }},
		"certificate for another name": {tls: true, answer: sound, change: func(cfg *apiclient.Config) {
			cfg.BaseURL = strings.Replace(cfg.BaseURL, "127.0.0.1", "localhost", 1)
		}},
		"certificate expired": {tls: true, answer: sound, change: func(cfg *apiclient.Config) {
			cfg.TLS.Time = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
		}},
		// Under TLS 1.2 the refusal surely comes before the request.
		"client certificate wanted": {tls: true, answer: sound, server: func(cfg *tls.Config) {
			cfg.ClientAuth, cfg.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
		}},

		"kept connection reset before the first byte": {kept: true, answer: same(apitest.Whole("200 OK", "[]"))},
		"reset amid the request":                      {large: true, answer: same(func(v apitest.RawRequest) bool { v.Reset(); return false })},
		"silence":                                     {answer: same(silence), change: hastily, slow: true},
		"closed":                                      {answer: same(apitest.Bytes(""))},
		"reset":                                       {answer: same(apitest.ThenReset(apitest.Bytes("")))},
		"closed over TLS":                             {answer: same(apitest.Bytes("")), tls: true},
		"closed in a proxy's tunnel":                  {answer: same(apitest.Bytes("")), tls: true, change: behindProxy("")},
		"reset over TLS":                              {answer: same(apitest.ThenReset(apitest.Bytes(""))), tls: true},

		"half a status line": {answer: same(apitest.Bytes("HTTP/1.1 20"))},
		"not HTTP":           {answer: same(apitest.Bytes("SSH-2.0-OpenSSH_9.2\r\n\r\n"))},
		"head over 64 KiB":   {answer: same(apitest.Bytes("HTTP/1.1 201 x\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n"))},
		"head of 60 KiB": {answer: func(col column) apitest.RawReply {
			return apitest.Whole("201 x", col.body(`"https://a.example"`), "X: "+strings.Repeat("x", 60<<10))
		}},
		"chunks that are none": {answer: same(apitest.Bytes("HTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\n\r\n{\"contactId\":1}"))},

		"body cut":        {answer: bodied(func(body string) apitest.RawReply { return apitest.Bytes(head(len(body)+1) + body) })},
		"body reset":      {answer: bodied(func(body string) apitest.RawReply { return apitest.ThenReset(apitest.Bytes(head(len(body)+1) + body)) })},
		"not JSON":        {answer: bodied(func(body string) apitest.RawReply { return apitest.Whole("201 x", body+"}") })},
		"web page":        {answer: same(apitest.Bytes("HTTP/1.1 200 x\r\nContent-Type: text/html\r\n\r\n<!doctype html><p>Log in"))},
		"body over 1 MiB": {answer: bodied(func(body string) apitest.RawReply { return apitest.Whole("201 x", body+strings.Repeat(" ", 1<<20)) })},
		"body compressed": {answer: bodied(func(body string) apitest.RawReply {
			return apitest.Whole("201 x", zipped(body), "Content-Encoding: gzip")
		})},
		"no id":            {answer: saying("201", `{"other":"a"}`)},
		"id null":          {answer: withID("201", "null")},
		"id empty":         {answer: withID("201", `""`)},
		"two ids":          {answer: withID("201", `"https://a.example","KEY":"https://b.example"`)},
		"HTTP 202 with id": {answer: withID("202", `"https://a.example"`)},
		"no id where an activity needs one": {answer: saying("201", `{"other":"a"}`),
			change: needingActivityID},
		"HTTP 202 with id where an activity needs one": {answer: withID("202", `"https://a.example"`),
			change: needingActivityID},
		"HTTP 202 without id": {answer: saying("202", `{}`)},

		"HTTP 404 as nobody":             {answer: saying("404", apitest.NobodyBody)},
		"HTTP 408 amid the request":      {large: true, answer: same(unread408)},
		"HTTP 409 to the second attempt": {attempts: 2, answer: same(secondly409)},
		"HTTP 200 with id, rule stop":    {answer: withID("200", `"https://a.example"`), change: ruled("200", "stop")},
		"HTTP 503 with id, rule done":    {answer: withID("503", `"https://a.example"`), change: ruled("503", "done")},

		"nobody, cut": {answer: same(apitest.Bytes("HTTP/1.1 404 x\r\nContent-Type: application/json\r\nContent-Length: " +
			strconv.Itoa(len(apitest.NobodyBody)+1) + "\r\n\r\n" + apitest.NobodyBody))},
		"two matches":              {answer: saying("200", `[{"contactId":"a"},{"contactId":"b"}]`)},
		"two matches in an object": {answer: saying("200", `{"contactId":["a","b"]}`)},
	}
}

// soundID is the id or url of an answer that is sound.
const soundID = "https://a.example"

// sound is the answer to a request that succeeds.
func sound(col column) apitest.RawReply { return withID("201", `"https://a.example"`)(col) }

// withID answers with value as the JSON of the id or url. KEY in it is replaced by
// the name of the field.
func withID(code, value string) func(column) apitest.RawReply {
	return func(col column) apitest.RawReply { return apitest.Whole(code+" x", col.body(value)) }
}

// body returns the body of an answer with value as the id or url.
func (col column) body(value string) string {
	body := `{"` + col.key + `":` + strings.ReplaceAll(value, "KEY", col.key) + `}`
	if col.kind == apiclient.ReadTemplates {
		return "[" + strings.TrimSuffix(body, "}") + `,"name":"n"}]`
	}
	return body
}

// bodied makes an answer from the body of a sound one.
func bodied(make func(body string) apitest.RawReply) func(column) apitest.RawReply {
	return func(col column) apitest.RawReply { return make(col.body(`"https://a.example"`)) }
}

func saying(code, body string) func(column) apitest.RawReply {
	return same(apitest.Whole(code+" x", body))
}

// head returns the head of the answer to a creation.
func head(length int) string {
	return "HTTP/1.1 201 x\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(length) + "\r\n\r\n"
}

func secondly409(v apitest.RawRequest) bool {
	if v.Attempt == 1 {
		return apitest.Bytes("")(v)
	}
	return status("409")(v)
}

func needingActivityID(cfg *apiclient.Config) { cfg.Wire.ActivityID = "/id" }

func ruled(status, means string) func(*apiclient.Config) {
	code, _ := strconv.Atoi(status)
	return func(cfg *apiclient.Config) { cfg.Rules = []apiclient.Rule{{Status: code, Means: means}} }
}

// tableRow is one fault in the table.
type tableRow struct {
	class   int
	failure string
	arrived int64
	cells   map[string]string // by column
}

func readTable(t *testing.T) []tableRow {
	t.Helper()
	text, err := os.ReadFile(classification)
	noError(t, err)
	var header []string
	var rows []tableRow
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|-") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if header == nil {
			header = cells
			continue
		}
		row := tableRow{failure: cells[1], cells: map[string]string{}}
		row.class, err = strconv.Atoi(cells[0])
		arrived, err2 := strconv.ParseInt(cells[2], 10, 64)
		if err := errors.Join(err, err2); err != nil || len(cells) != len(header) {
			t.Fatalf("%s: %v", line, err)
		}
		row.arrived = arrived
		for i, name := range header[3:] {
			row.cells[name] = cells[3+i]
		}
		rows = append(rows, row)
	}
	return rows
}

// TestClassification plays every cell of the table against its own service.
func TestClassification(t *testing.T) {
	t.Parallel()
	rows := readTable(t)
	missing := map[int]bool{32: true}
	for class := 1; class <= 29; class++ {
		missing[class] = true
	}
	faults := newFaults(t)
	unplayed := maps.Clone(faults)
	turns := make(chan struct{}, 32) // large bodies would fill the memory side by side
	var wg sync.WaitGroup
	for _, row := range rows {
		delete(missing, row.class)
		delete(unplayed, row.failure)
		f, ok := faults.named(row.failure)
		if !ok {
			t.Errorf("class %d: no fault is called %q", row.class, row.failure)
			continue
		}
		for _, col := range columns {
			want := row.cells[col.name]
			if want == "–" {
				continue
			}
			wg.Go(func() {
				if !f.slow {
					turns <- struct{}{}
					defer func() { <-turns }()
				}
				got, arrived, sent := play(t, f, col)
				if got != want || arrived != row.arrived || sent != int(row.arrived) {
					t.Errorf("class %d, %s, %s: %q with %d arrived and %d counted; want %q with %d",
						row.class, row.failure, col.name, got, arrived, sent, want, row.arrived)
				}
			})
		}
	}
	wg.Wait()
	if len(missing) > 0 {
		t.Errorf("the table lacks the classes %v", slices.Sorted(maps.Keys(missing)))
	}
	if len(unplayed) > 0 {
		t.Errorf("the table lacks the faults %q", slices.Sorted(maps.Keys(unplayed)))
	}
}
