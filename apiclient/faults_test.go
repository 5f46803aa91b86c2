package apiclient_test

import (
	"crypto/tls"
	"net"
	"regexp"
	"strings"
	"testing"

	"claimsheet/apiclient"
)

// fault is one way in which a request goes wrong.
type fault struct {
	url    string                  // where nobody listens; otherwise there is a service:
	accept func(*net.TCPConn)      // one that does not come as far as HTTP,
	answer func(column) reply      // or one that does
	tls    bool                    // it is asked for by https
	server func(*tls.Config)       // what is special about its TLS
	change func(*apiclient.Config) // what is special about the environment

	attempts int  // 1 if 0; the last one is judged
	large    bool // the request does not fit on the way
	kept     bool // a sound request came before it; then the service broke down
	slow     bool // it takes a time-out of several seconds
}

// faults are the table's, by name.
type faults map[string]fault

var bareStatus = regexp.MustCompile(`^HTTP (\d{3})$`)

// named is the fault of that name; a bare status needs no entry.
func (fs faults) named(name string) (fault, bool) {
	if m := bareStatus.FindStringSubmatch(name); m != nil {
		return fault{answer: same(status(m[1]))}, true
	}
	f, ok := fs[name]
	return f, ok
}

// play sends a column's request against a fault. It tells what became of the
// last attempt, how many requests arrived and how many the client counted.
func play(t *testing.T, f fault, col column) (got string, arrived int64, sent int) {
	cfg := config(apiclient.V2)
	cfg.BaseURL = f.url
	var s *faultService
	switch {
	case f.accept != nil:
		l := listen(t)
		go eachConnection(l, f.accept)
		cfg.BaseURL = "http://" + l.Addr().String()
		if f.tls {
			cfg.BaseURL = "https://" + l.Addr().String()
		}
	case f.answer != nil:
		var server *tls.Config
		if f.tls {
			certificate, roots := identity(t)
			server = &tls.Config{Certificates: []tls.Certificate{certificate}}
			cfg.TLS = &tls.Config{RootCAs: roots}
		}
		if f.server != nil {
			f.server(server)
		}
		s = newFaultService(t, server, f.answer(col))
		cfg.BaseURL = s.url()
	}
	if f.change != nil {
		f.change(&cfg)
	}
	c := client(t, cfg)
	if s == nil {
		got = col.attempt(t.Context(), c, "")
		return got, 0, c.Sent()[col.kind]
	}
	// Where there is no connection, nothing can be learnt: the cell shows it.
	_ = c.LearnAbsent(t.Context(), apiclient.ByEmail)
	if f.kept {
		if _, _, err := c.Templates(t.Context()); err != nil {
			t.Errorf("before the fault: %v", err)
		}
		s.breakDown()
	}
	arrivedBefore, sentBefore := s.arrived.Load(), c.Sent()[col.kind]
	pad := ""
	if f.large {
		pad = strings.Repeat("x", 8<<20)
	}
	for range max(1, f.attempts) {
		got = col.attempt(t.Context(), c, pad)
	}
	return got, s.arrived.Load() - arrivedBefore, c.Sent()[col.kind] - sentBefore
}

// same is an answer that does not depend on what was asked.
func same(r reply) func(column) reply { return func(column) reply { return r } }

// status is a whole answer of that status which says nothing else.
func status(code string, headers ...string) reply {
	body := `{"message":"no"}`
	if code == "204" || code == "205" {
		body = ""
	}
	return whole(code+" x", body, append([]string{"Location: /elsewhere"}, headers...)...)
}
