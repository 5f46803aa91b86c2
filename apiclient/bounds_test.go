package apiclient_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient"
)

// A body that stalls, or drips for ever, is waited for as long as the time-out
// says, and not for a minute.
func TestABodyObeysTheTimeout(t *testing.T) {
	t.Parallel()
	for _, drip := range []bool{false, true} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(201)
			_, _ = io.WriteString(w, `{"contactId":"`)
			for r.Context().Err() == nil {
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond)
				if drip {
					_, _ = io.WriteString(w, "a")
				}
			}
		}))
		defer s.Close()
		c := at(t, s.URL, func(cfg *apiclient.Config) { cfg.Timeout = 300 * time.Millisecond })
		start := time.Now()
		v := c.Create(t.Context(), createContact(c))
		if took := time.Since(start); v.Effect != apiclient.Uncertain || took > 5*time.Second || !strings.Contains(v.Reason, "within the time allowed") {
			t.Errorf("dripping %v: %s (%s) after %v", drip, v.Effect, v.Reason, took)
		}
	}
}

// A service may have ten thousand templates.
func TestManyTemplatesAreRead(t *testing.T) {
	var list []string
	for i := range 10_000 {
		list = append(list, fmt.Sprintf(`{"id":"%036d","name":"Template %d","activityAttributeTemplates":[{"id":"%036d","name":"A","dataType":"Text"}],"more":%q}`,
			i, i, i, strings.Repeat("x", 100)))
	}
	body := "[" + strings.Join(list, ",") + "]"
	if len(body) < 2<<20 {
		t.Fatalf("%d bytes", len(body))
	}
	templates, _, err := against(t, answers(200, asJSON, body)).Templates(t.Context())
	if err != nil || len(templates) != 10_000 || templates[9_999].Attributes[0].DataType != "Text" {
		t.Errorf("%d templates, %v", len(templates), err)
	}
}

// An id or a url that no cell of a workbook holds whole is none: it would be cut
// on its way to people.
func TestWhatNoCellHoldsIsNoID(t *testing.T) {
	for n, sound := range map[int]bool{32_767: true, 32_768: false} {
		c := client(t, config(apiclient.V2))
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
		if v.Effect != apiclient.Created || (v.URL != "") != sound || (v.Hint == "") != sound {
			t.Errorf("a client with a url of %d characters: %s, hint %q", n, v.Effect, v.Hint)
		}
	}
}
