package apiclient_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The exact bytes that are sent for every line of the document's tables, in both
// versions.
func TestRoutesOnTheWire(t *testing.T) {
	for _, v := range []apiclient.Version{apiclient.V1, apiclient.V2} {
		t.Run(string(v), func(t *testing.T) {
			var seen strings.Builder
			cfg := config(v)
			cfg.Transport = apiclient.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				fmt.Fprintf(&seen, "%s %s\n%s\n\n", r.Method, r.RequestURI, body)
			}))
			c := client(t, cfg)
			for _, req := range everyRequest(c.Routes()) {
				fmt.Fprintf(&seen, "%s: %s\n", req.Kind, req.Route)
				if _, err := c.Do(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			file := "testdata/routes-" + string(v) + ".golden"
			if *update {
				noError(t, os.WriteFile(file, []byte(seen.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			noError(t, err)
			equal(t, file+" (-update rewrites it)", string(want), seen.String())
		})
	}
}

func everyRequest(r apiclient.Routes) []apiclient.Request {
	open := apiclient.Activity{TemplateID: "tpl-1", Status: "Open", WorkflowName: "Leads <1> & co", WorkflowTemplateIdentifier: "WF"}
	filled := open
	filled.Status = "Submitted"
	filled.Attributes = []apiclient.Attribute{
		{TemplateID: "at-1", Field: "stringValue", Value: []byte(`"O'Brien & <sons> \"x\""`)},
		{TemplateID: "at-2", Field: "boolValue", Value: []byte(`true`)},
		{TemplateID: "at-3", Field: "dateTimeValue", Value: []byte(`"1980-05-01T00:00:00Z"`)},
		{TemplateID: "at-4", Field: "doubleValue", Value: []byte(`1234.50`)},
	}
	empty := open
	empty.Attributes = []apiclient.Attribute{}
	fields := json.RawMessage(`{"email": "jane@example.com", "amount": 1.10}`)
	reqs := []apiclient.Request{
		r.Templates(),
		r.CreateClient(fields, true),
		r.CreateClient(fields, false),
		r.Find(apiclient.ByEmail, "jane+x@example.com"),
		r.Find(apiclient.ByPhone, "+447700900001"),
		r.CreateActivity("client-1", "", filled),
		r.CreateActivity("client-1", "", open),
		r.CreateActivity("client-1", "", empty),
	}
	if r.Version == apiclient.V2 {
		reqs = append(reqs,
			r.CreateActivity("client-1", "claim-1", filled),
			r.CreateClaim("client-1", []string{"client-1"}, "Loan <A&B>"),
			r.CreateClaim("broker-1", []string{"client-1", "partner-1"}, "Joint"),
			r.CreateLink("client-1", nil),
			r.CreateLink("client-1", json.RawMessage(`{"ttl":1}`)))
	}
	return reqs
}

func TestWhatIsNotJSONIsNotSent(t *testing.T) {
	hits := 0
	c := against(t, func(http.ResponseWriter, *http.Request) { hits++ })
	r := c.Routes()
	bad := apiclient.Activity{Attributes: []apiclient.Attribute{{Field: "stringValue", Value: []byte(`bare`)}}}
	for _, req := range []apiclient.Request{
		r.CreateClient(nil, true),
		r.CreateClient(json.RawMessage(`{"a":`), true),
		r.CreateActivity("c", "", bad),
	} {
		if v := c.Create(t.Context(), req); v.Effect != apiclient.NotSent {
			t.Errorf("%s %s: %s, want not sent", req.Route, req.Body, v.Effect)
		}
	}
	if hits != 0 || len(c.Sent()) != 0 {
		t.Errorf("%d requests arrived, %v counted", hits, c.Sent())
	}
}
