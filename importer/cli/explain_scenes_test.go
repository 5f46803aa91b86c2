package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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
