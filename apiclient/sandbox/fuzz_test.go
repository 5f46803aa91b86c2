package sandbox_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/apiclient/sandbox"
)

// Any body either succeeds or is refused with a reason, and a refused one creates
// nothing.
func FuzzBody(f *testing.F) {
	for _, r := range refusals(f) {
		if len(r.body) < 1<<10 {
			f.Add(r.body)
		}
	}
	f.Add(completed(details, surname, "Submitted"))
	f.Add(opened(signature))
	f.Add(`{"activityTemplateId":"` + signature + `","status":"Open"}`)
	f.Add(`{"a":{"b":"\ud800"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := open(t, "")
		contact := newContact(t, s)
		client := post(t, s, v1Clients, `{"a":1}`)["clientId"]
		paths := []string{
			v2 + "/contacts", v1Clients, v2 + "/claims", v2 + "/contacts/" + contact + "/magic-link",
			v2 + "/activities?contactId=" + contact, v1Clients + "/" + client + "/activities",
		}
		before := shown(t, s)
		for _, path := range paths {
			w := send(s, "POST", path, "application/json", body)
			var refused struct {
				Error struct{ Code, Message string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &refused); err != nil {
				t.Fatalf("%s: %v: %s", path, err, w.Body)
			}
			after := shown(t, s)
			changed := before != after
			before = after
			switch {
			case w.Code == http.StatusCreated && changed:
			case w.Code >= 400 && w.Code < 500 && !changed && refused.Error.Code != "" && refused.Error.Message != "":
			default:
				t.Fatalf("%s: %d %s, changed: %t", path, w.Code, w.Body, changed)
			}
		}
	})
}

// Any file is either refused or loaded, and a loaded one can be written to and read
// again.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	populate(f, open(f, dir))
	whole := must(os.ReadFile(filepath.Join(dir, "service.jsonl")))(f)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte(`{"client":{"id":"1","data":{"email":null}}}` + "\n"))
	f.Add([]byte(`{"client":{"id":"1","data":null}}` + "\n"))
	f.Add([]byte("null\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		noError(t, os.WriteFile(filepath.Join(dir, "service.jsonl"), content, 0o600))
		s, err := sandbox.New(options(t, dir))
		if err != nil {
			return
		}
		newContact(t, s)
		before := shown(t, s)
		s.Close()
		same(t, "read again", before, shown(t, open(t, dir)))
	})
}
