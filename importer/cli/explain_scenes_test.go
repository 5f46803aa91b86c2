package cli_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/ledger"
	"claimsheet/reports"
)

func (p *play) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) path(name string) string { return filepath.Join(p.dir, name) }

// serve puts a service in the place of the one before.
func (p *play) serve(service http.Handler) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := p.fault.Load(); f == nil || *f == nil || !(*f)(w, r) {
			service.ServeHTTP(w, r)
		}
	}))
	p.t.Cleanup(server.Close)
	p.url, p.service = server.URL, service
	p.write("environments.yaml", exampleFile("environments.yaml"))
}

// loseAnswers lets the service carry out POSTs to a path, and cuts the connection before
// the answer.
func (p *play) loseAnswers(path string) {
	service := p.service
	p.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, path) {
			return false
		}
		service.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// atFirstPost does something once, when the first POST arrives.
func (p *play) atFirstPost(do func()) {
	p.setFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			p.setFault(nil)
			do()
		}
		return false
	})
}

// explainDeeds are sentences of the examples that the test makes true.
var explainDeeds = map[string]func(p *play){
	"The answer to every created claim is lost.": func(p *play) { p.loseAnswers("/claims") },
	"The answer to every created link is lost.":  func(p *play) { p.loseAnswers("link") },
	"The service answers.":                       func(p *play) { p.setFault(nil) },
	"The service has another address.":           func(p *play) { p.serve(p.service) },
	"The service says no data types.": func(p *play) {
		service, err := sandbox.New(sandbox.Options{})
		p.must(err)
		p.serve(apitest.Shape{Untyped: true}.Around(service))
	},
	"The service lists the options Mr, Mrs and Ms of the attribute Title.": func(p *play) {
		p.otherTemplates(`"name":"Title","dataType":"DropDown"`, `"name":"Title","dataType":"DropDown","options":["Mr","Mrs","Ms"]`)
	},
	"The attribute Postcode becomes a TextArea.": func(p *play) {
		p.otherTemplates(`"name":"Postcode","dataType":"Text"`, `"name":"Postcode","dataType":"TextArea"`)
	},
	"The template Sign your claim is deleted and made again.": func(p *play) {
		p.otherTemplates(`c199c0a9-8a62-4ac1-bac0-cddb0346ce06`, `d199c0a9-8a62-4ac1-bac0-cddb0346ce06`)
	},
	"The environment has two templates called Your details.": func(p *play) {
		p.otherTemplates(`"name":"Your circumstances"`, `"name":"Your details"`)
	},
	"leads.csv was saved as “CSV (MS-DOS)”.": func(p *play) {
		p.write("leads.csv", "E-mail,First name,DOB,Agreement no\nzoe@example.com,Zo\x89,01/05/1980,A-1\n")
	},
	"The source has 01/05/1980, 1 May, where leads.xlsx has 5 January.": func(p *play) {
		p.file("leads.xlsx", "DOB\n1980-01-05 (date)\n31/12/1975\n")
	},
	"The ledger is moved away while the next run goes on.": func(p *play) {
		p.atFirstPost(func() { _ = os.Rename(p.path(".claimsheet/ledger.db"), p.path(".claimsheet/ledger.db.away")) })
	},
	"The journal is on another disk.": func(p *play) {
		p.must(os.Rename(p.journal("jsonl"), strings.TrimSuffix(p.journal("jsonl"), "jsonl")+"away"))
	},
	"The journal is back.": func(p *play) {
		p.must(os.Rename(p.journal("away"), strings.TrimSuffix(p.journal("away"), "away")+"jsonl"))
	},
	"The computer is switched off while the next run goes on.": func(p *play) {
		p.atFirstPost(func() { p.must(os.CopyFS(p.path("then"), os.DirFS(p.path(".claimsheet")))) })
	},
	"The computer is switched on again.": func(p *play) {
		p.must(errors.Join(os.RemoveAll(p.path(".claimsheet")), os.Remove(p.path("leads.results.xlsx")), os.Rename(p.path("then"), p.path(".claimsheet"))))
	},
	"A cell of leads.results.xlsx is changed.": func(p *play) {
		f, err := excelize.OpenFile(p.path("leads.results.xlsx"))
		p.must(err)
		defer f.Close()
		p.must(errors.Join(f.SetCellStr("Results", "B2", "Anna"), f.Save()))
	},
	"A web tool saves leads.results.xlsx.": func(p *play) {
		path := p.path("leads.results.xlsx")
		properties, _, err := reports.IsOurs(path)
		p.must(err)
		for name := range properties {
			properties[name] = ""
		}
		p.must(reports.Mark(path, properties, func(string) error { return nil }))
	},
	"Another run begins.": func(p *play) {
		p.must(os.MkdirAll(p.path(".claimsheet"), 0o700))
		release, err := ledger.Lock(p.path(".claimsheet/ledger.db"))
		p.must(err)
		p.release = release
	},
	"The other run ends.": func(p *play) { p.release() },
}

// otherTemplates lets the service answer with other templates.
func (p *play) otherTemplates(from, to string) {
	p.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/activity-templates") {
			return false
		}
		answer := httptest.NewRecorder()
		p.service.ServeHTTP(answer, r)
		_, _ = w.Write(bytes.ReplaceAll(answer.Body.Bytes(), []byte(from), []byte(to)))
		return true
	})
}

// journal is the path of the one journal, whose name ends so.
func (p *play) journal(suffix string) string {
	files, err := filepath.Glob(p.path(".claimsheet/journal-*." + suffix))
	p.must(err)
	if len(files) != 1 {
		p.t.Fatalf("the journals are %q", files)
	}
	return files[0]
}
