package cli_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// keyedEntry has a key in the query, which the service sees in the url. The secret is
// that of scene.exec.
const keyedEntry = `auth: {type: api_key, query: api-key, key: "env:CANARY"}`

// admitKeyed takes the key away, as the service knows no such parameter.
func admitKeyed(r *http.Request, _ string) bool {
	query := r.URL.Query()
	ok := len(query["api-key"]) == 1 && query.Get("api-key") == "canary-oauth"
	query.Del("api-key")
	r.URL.RawQuery = query.Encode()
	return ok
}

// echoOf is a call's url with the key, which the service may repeat.
func echoOf(c apitest.Call) string { return c.Path + "?api-key=canary-oauth" }

// newAuthScene is a scene with a key in the query, over plain http or through a proxy.
func newAuthScene(t *testing.T, proxied bool) (*scene, *apitest.Proxy) {
	s := newScene(t, stepThree, leads(3))
	s.service.Admit = admitKeyed
	if !proxied {
		s.environment(keyedEntry)
		return s, nil
	}
	server := httptest.NewTLSServer(s.service)
	t.Cleanup(server.Close)
	s.url = server.URL
	write(t, s.path("ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	proxy := apitest.StartProxy(t, nil, nil)
	s.environment(keyedEntry + "\ntls: {ca: ca.pem}\nproxy: {url: '" + proxy.URL + "', username: intake, password: 'env:CANARY'}")
	return s, proxy
}

// TestWireAuth kills an import, directly and through a
// proxy, when the second of three clients was created, and lets the next run do the
// rest. A rerun of the workbook sends nothing.
func TestWireAuth(t *testing.T) {
	t.Parallel()
	for _, proxied := range []bool{true, false}[:longOr(2, 1)] {
		t.Run(fmt.Sprintf("proxy %v", proxied), func(t *testing.T) {
			t.Parallel()
			s, proxy := newAuthScene(t, proxied)
			said := s.killedAtSecond("CANARY=canary-oauth")
			if code, out := s.exec(s.args()...); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			s.checkIDs("c2@example.com")
			s.checkIDs("c3@example.com")
			s.checkPromise()
			s.since()
			code, out := s.exec("rerun", "--environments", s.path("environments.yaml"), "-m", s.path("mapping.yaml"), s.path("leads.results.xlsx"))
			if posts := s.since().posts(); code != 0 || len(posts) > 0 {
				t.Errorf("rerun: exit code %d, %v\n%s", code, posts, out)
			}
			if code, out := s.exec("doctor", "-m", s.path("mapping.yaml")); code != 0 || !strings.Contains(out, "authentication: accepted") ||
				strings.Contains(out, "through the proxy 127.0.0.1") != proxied {
				t.Errorf("doctor: exit code %d\n%s", code, out)
			}
			if proxied && len(proxy.Asked()) == 0 {
				t.Error("the proxy was not used")
			}
			s.searchAll(said)
		})
	}
}

// killedAtSecond runs the program until it is killed when the second client was created.
func (s *scene) killedAtSecond(env ...string) (said string) {
	s.t.Helper()
	p := child(programName, s.args("--concurrency", "1"), env...)
	s.service.Play(apitest.Once(onStep("client c2@example.com"), apitest.Fault{Then: p.kill, Drop: true}))
	code, said := p.end(s.t)
	if code != -1 {
		s.t.Fatalf("exit code %d: it was not killed\n%s", code, said)
	}
	s.service.Play(nil)
	return said
}

// P-3: a key in the query is in no output and no file, also when the service repeats it.
func TestP3_Queries(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, status := range []int{201, 422, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s, _ := newAuthScene(t, false)
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Kind != "claim" {
					return apitest.Fault{}
				}
				reply := apitest.JSON(status, fmt.Sprintf(`{"message":"no canary: %s"}`, echoOf(c)))
				reply.Header = map[string]string{"X-Echo": echoOf(c), "Location": "/claims/7?" + c.Query + echoOf(c)}
				return apitest.Answer(reply)
			})
			var printed strings.Builder
			for range 2 {
				_, out := s.exec(s.args()...)
				printed.WriteString(out)
			}
			if find(contents(t, s.path(".claimsheet/ledger.db")), []string{"no canary"}) == "" {
				t.Error("the ledger has no answer of a claim: this is not the run that was to be looked at")
			}
			s.searchAll(printed.String())
		})
	}
}

// P-3: a journal, which keeps what the ledger cannot take, does not have it.
func TestP3_QueriesInAJournal(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s, _ := newAuthScene(t, false)
	ledger := s.path(".claimsheet/ledger.db")
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Step != "client c1@example.com" {
			return apitest.Fault{}
		}
		reply := apitest.JSON(201, fmt.Sprintf(`{"contactId":"7","note":"no canary: %s"}`, echoOf(c)))
		return apitest.Fault{Reply: &reply, Then: func() {
			if err := os.Rename(ledger, ledger+".away"); err != nil {
				t.Error(err)
			}
		}}
	})
	code, out := s.exec(s.args("--concurrency", "1")...)
	kept, err := filepath.Glob(s.path(".claimsheet/journal-*.jsonl"))
	if err != nil || code != 3 || len(kept) != 1 {
		t.Fatalf("exit code %d, journals %q: this is not the run that was to be looked at\n%s", code, kept, out)
	}
	answer := "" // the file has answers as base64
	for _, word := range regexp.MustCompile(`[A-Za-z0-9+/]{40,}=*`).FindAllString(readText(t, kept[0]), -1) {
		if text, err := base64.StdEncoding.DecodeString(word); err == nil {
			answer += string(text)
		}
	}
	if !strings.Contains(answer, "no canary: ") || !strings.Contains(answer, "***") {
		t.Fatalf("the journal has the answer %q", answer)
	}
	s.searchAll(out + answer)
}

// searchFor looks for a text on the terminal and in every file of the scene.
func (s *scene) searchFor(printed, text string) {
	s.t.Helper()
	if text == "" {
		return
	}
	if strings.Contains(printed, text) {
		s.t.Errorf("%q is printed", text)
	}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(string(contents(s.t, path)), text) {
			s.t.Errorf("%q is in %s", text, path)
		}
		return err
	})
	must(s.t, err)
}
