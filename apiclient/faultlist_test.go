package apiclient_test

import (
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient"
)

// newFaults lists the faults of the table, in its order.
func newFaults(t *testing.T) faults {
	over := make(chan struct{}) // ends what is silent
	t.Cleanup(func() { close(over) })
	silence := func(v visit) bool { v.swallow(); <-over; return false }
	unread408 := func(v visit) bool { // no reset may overtake the answer
		_, _ = io.WriteString(v, "HTTP/1.1 408 x\r\nContent-Length: 0\r\n\r\n")
		<-over
		return false
	}
	hastily := func(cfg *apiclient.Config) { cfg.Timeout = 2 * time.Second }
	return faults{
		"unknown host":       {url: "https://nowhere.invalid"},
		"connection refused": {url: "http://" + refusing(t)},
		"no route":           {url: "https://255.255.255.255"},
		"dial time-out":      {url: "http://" + fullQueue(t), slow: true},
		"a proxy on the way refuses": {tls: true, accept: func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn)
		}},
		"handshake time-out": {tls: true, slow: true, accept: func(*net.TCPConn) { <-over }},
		"handshake reset":    {tls: true, accept: func(conn *net.TCPConn) { _ = conn.SetLinger(0) }},

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

		"kept connection reset before the first byte": {kept: true, answer: same(whole("200 OK", "[]"))},
		"reset amid the request":                      {large: true, answer: same(func(v visit) bool { v.abort(); return false })},
		"silence":                                     {answer: same(silence), change: hastily, slow: true},
		"closed":                                      {answer: same(rawly(""))},
		"reset":                                       {answer: same(aborting(rawly("")))},
		"closed over TLS":                             {answer: same(rawly("")), tls: true},
		"reset over TLS":                              {answer: same(aborting(rawly(""))), tls: true},

		"half a status line":   {answer: same(rawly("HTTP/1.1 20"))},
		"not HTTP":             {answer: same(rawly("SSH-2.0-OpenSSH_9.2\r\n\r\n"))},
		"head over 64 KiB":     {answer: same(rawly("HTTP/1.1 201 x\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n"))},
		"chunks that are none": {answer: same(rawly("HTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\n\r\n{\"contactId\":1}"))},

		"body cut":         {answer: bodied(func(body string) reply { return rawly(head(len(body)+1) + body) })},
		"body reset":       {answer: bodied(func(body string) reply { return aborting(rawly(head(len(body)+1) + body)) })},
		"not JSON":         {answer: bodied(func(body string) reply { return whole("201 x", body+"}") })},
		"web page":         {answer: same(rawly("HTTP/1.1 200 x\r\nContent-Type: text/html\r\n\r\n<!doctype html><p>Log in"))},
		"body over 1 MiB":  {answer: bodied(func(body string) reply { return whole("201 x", body+strings.Repeat(" ", 1<<20)) })},
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

		"HTTP 404 as nobody":             {answer: saying("404", learntNobody)},
		"HTTP 408 amid the request":      {large: true, answer: same(unread408)},
		"HTTP 409 to the second attempt": {attempts: 2, answer: same(secondly409)},
		"HTTP 429 for 7 s":               {answer: same(status("429", "Retry-After: 7"))},
		"HTTP 503 for 7 s":               {answer: same(status("503", "Retry-After: 7"))},
		"HTTP 503 for 7 s, rule retry":   {answer: same(status("503", "Retry-After: 7")), change: ruled("retry")},
		"HTTP 503, rule failed":          {answer: same(status("503")), change: ruled("failed")},
		"HTTP 503, rule uncertain":       {answer: same(status("503")), change: ruled("uncertain")},
		"HTTP 503, rule stop":            {answer: same(status("503")), change: ruled("stop")},
		"HTTP 503 with id, rule done":    {answer: withID("503", `"https://a.example"`), change: ruled("done")},

		"nobody, cut": {answer: same(rawly("HTTP/1.1 404 x\r\nContent-Type: application/json\r\nContent-Length: " +
			strconv.Itoa(len(learntNobody)+1) + "\r\n\r\n" + learntNobody))},
		"two matches":              {answer: saying("200", `[{"contactId":"a"},{"contactId":"b"}]`)},
		"two matches in an object": {answer: saying("200", `{"contactId":["a","b"]}`)},
	}
}

// sound is the answer that a request hopes for.
func sound(col column) reply { return withID("201", `"https://a.example"`)(col) }

// withID answers with JSON as value where the id or url belongs; KEY in it is
// the name of that place.
func withID(code, value string) func(column) reply {
	return func(col column) reply { return whole(code+" x", col.body(value)) }
}

// body is an answer's body with value where the id or url belongs.
func (col column) body(value string) string {
	body := `{"` + col.key + `":` + strings.ReplaceAll(value, "KEY", col.key) + `}`
	if col.kind == apiclient.ReadTemplates {
		return "[" + strings.TrimSuffix(body, "}") + `,"name":"n"}]`
	}
	return body
}

// bodied makes an answer of what a sound one's body would be.
func bodied(make func(body string) reply) func(column) reply {
	return func(col column) reply { return make(col.body(`"https://a.example"`)) }
}

func saying(code, body string) func(column) reply { return same(whole(code+" x", body)) }

// head is that of a created thing, up to its body.
func head(length int) string {
	return "HTTP/1.1 201 x\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(length) + "\r\n\r\n"
}

// aborting ends a reply with a reset.
func aborting(r reply) reply {
	return func(v visit) bool {
		defer v.abort()
		return r(v)
	}
}

func secondly409(v visit) bool {
	if v.attempt == 1 {
		return rawly("")(v)
	}
	return status("409")(v)
}

func needingActivityID(cfg *apiclient.Config) { cfg.Wire.ActivityID = "/id" }

func ruled(means string) func(*apiclient.Config) {
	return func(cfg *apiclient.Config) { cfg.Rules = []apiclient.Rule{{Status: 503, Means: means}} }
}
