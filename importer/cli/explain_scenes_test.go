package cli_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli/explain"
	"claimsheet/importer/ledger"
	"claimsheet/reports"
)

// explainScenes prepare the folder, or the service, in which an example is played.
var explainScenes = map[string]func(p *play){
	"a mapping of 2 MB":      func(p *play) { p.write("mapping.yaml", strings.Repeat("# a comment\n", 200_000)) },
	"a row of 16,385 fields": func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", strings.Repeat("x,", 16_384)+"x") },
	"a field of 32,768 characters": func(p *play) {
		p.leads("E-mail,First name,DOB,Agreement no", "ann@example.com,"+strings.Repeat("x", 32_768)+",01/05/1980,A-1")
	},
	"a hundred rows with a field too many": func(p *play) {
		p.leads("E-mail,First name,DOB,Agreement no", strings.Repeat("ann@example.com,Ann,01/05/1980,A-1,more\n", 100))
	},
	"a sheet in windows-1252":  func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "zoe@example.com,Zo\xeb,01/05/1980,A-1") },
	"a sheet in code page 850": func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "zoe@example.com,Zo\x89,01/05/1980,A-1") },
	"a zero-width space":       func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "ann@example.com,\u200b,01/05/1980,A-1") },
	"a control character":      func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "ann@example.com,A\ann,01/05/1980,A-1") },
	"a damaged workbook": func(p *play) {
		p.edited(func(*excelize.File) error { return nil })
		data := p.read("leads.xlsx")
		p.write("leads.xlsx", data[:len(data)/2])
	},
	"a damaged .csv.gz file": func(p *play) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(p.read("leads.csv")))
		p.must(err)
		p.must(z.Close())
		p.write("leads.csv.gz", b.String()[:b.Len()-9])
	},
	"a workbook with the password secret": func(p *play) {
		p.edited(func(*excelize.File) error { return nil }, excelize.Options{Password: "secret"})
	},
	"merged cells": func(p *play) { p.edited(func(f *excelize.File) error { return f.MergeCell("Leads", "D2", "D3") }) },
	"an exchanged date": func(p *play) {
		p.edited(func(f *excelize.File) error {
			style, err := f.NewStyle(&excelize.Style{NumFmt: 14})
			return errors.Join(err, f.SetCellFloat("Leads", "C2", 29225, 0, 64), f.SetCellStyle("Leads", "C2", "C2", style))
		})
	},
	"hidden rows":               func(p *play) { p.edited(func(f *excelize.File) error { return f.SetRowVisible("Leads", 3, false) }) },
	"a cell in the last column": func(p *play) { p.edited(func(f *excelize.File) error { return f.SetCellStr("Leads", "XFD2", "x") }) },
	"two templates of one name": func(p *play) {
		p.serve(templatesOf(p, func(list []map[string]any) []map[string]any {
			twin := map[string]any{"id": "10000000-0000-4000-8000-000000000001"}
			for key, value := range list[0] {
				if key != "id" {
					twin[key] = value
				}
			}
			return append(list, twin)
		}))
	},
	"a receiver of notices": func(p *play) {
		inner := p.service
		p.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/notices" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			inner.ServeHTTP(w, r)
		}))
	},
	"a data type of another name": func(p *play) {
		p.otherTemplates(`"dataType":"Currency"`, `"dataType":"Money"`)
	},
	"a drop-down list with options": func(p *play) {
		p.otherTemplates(`"name":"Title","dataType":"DropDown"`, `"name":"Title","dataType":"DropDown","options":["Mr","Mrs","Ms"]`)
	},
	"seventeen runs": func(p *play) {
		seen := map[byte]bool{}
		for range 17 {
			exit, text := p.command("claimsheet run --yes --json -m mapping.yaml -e uat leads.csv")
			_, id, ok := strings.Cut(text, `{"run":"`)
			if exit != 0 || !ok {
				p.t.Fatalf("a run ends with exit code %d:\n%s", exit, text)
			}
			p.words = map[string]string{"CHARACTER": id[:1], "ID": id[:8]}
			if seen[id[0]] {
				return
			}
			seen[id[0]] = true
		}
	},
	"results without document properties": func(p *play) {
		if exit, text := p.command("claimsheet run --yes -m mapping.yaml -e uat leads.csv"); exit != 0 {
			p.t.Fatalf("a run ends with exit code %d:\n%s", exit, text)
		}
		path := filepath.Join(p.dir, "leads.results.xlsx")
		properties, _, err := reports.IsOurs(path)
		p.must(err)
		for name := range properties {
			properties[name] = ""
		}
		p.must(reports.Mark(path, properties, func(string) error { return nil }))
	},
	"a service without data types": func(p *play) {
		service, err := sandbox.New(sandbox.Options{Untyped: true})
		p.must(err)
		p.serve(service)
	},
}

func (p *play) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) path(name string) string { return filepath.Join(p.dir, name) }

func (p *play) read(name string) string {
	data, err := os.ReadFile(p.path(name))
	p.must(err)
	return string(data)
}

// leads writes leads.csv.
func (p *play) leads(lines ...string) { p.write("leads.csv", strings.Join(lines, "\n")+"\n") }

// edited makes leads.xlsx of leads.csv with a change.
func (p *play) edited(change func(f *excelize.File) error, options ...excelize.Options) {
	base, _ := explain.Base("leads.csv")
	p.workbook(spliceTable(p.t, base, base))
	f, err := excelize.OpenFile(p.path("leads.xlsx"))
	p.must(err)
	defer f.Close()
	p.must(change(f))
	p.must(f.SaveAs(p.path("leads.xlsx"), options...))
}

// serve puts a service in the place of the one before.
func (p *play) serve(service http.Handler) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := p.fault.Load(); f == nil || *f == nil || !(*f)(w, r) {
			service.ServeHTTP(w, r)
		}
	}))
	p.t.Cleanup(server.Close)
	p.url, p.service = server.URL, service
	text, _ := explain.Base("environments.yaml")
	p.write("environments.yaml", text)
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
	"In another folder:": func(p *play) { p.elsewhere = true },
	"The service is stopped.": func(p *play) {
		p.setFault(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
	},
	"The answer to every created claim is lost.": func(p *play) { p.loseAnswers("/claims") },
	"The answer to every created link is lost.":  func(p *play) { p.loseAnswers("link") },
	"The service gives links.":                   func(p *play) { p.setFault(nil) },
	"The service refuses links.": func(p *play) {
		p.setFault(func(w http.ResponseWriter, r *http.Request) bool {
			refused := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "link")
			if refused {
				w.WriteHeader(http.StatusUnprocessableEntity)
			}
			return refused
		})
	},
	"The service has another address.": func(p *play) { p.serve(p.service) },
	"The service answers.":             func(p *play) { p.setFault(nil) },
	"A folder takes the name of the workbook while the next run goes on.": func(p *play) {
		p.atFirstPost(func() { _ = os.MkdirAll(p.path("leads.results.xlsx/pictures"), 0o700) })
	},
	"The ledger is moved away while the next run goes on.": func(p *play) {
		p.atFirstPost(func() { _ = os.Rename(p.path(".claimsheet/ledger.db"), p.path(".claimsheet/ledger.db.away")) })
	},
	"Others may write to the emergency file.": func(p *play) { p.must(os.Chmod(p.emergencyFile("jsonl"), 0o666)) },
	"The emergency file has the mode 0600.":   func(p *play) { p.must(os.Chmod(p.emergencyFile("jsonl"), 0o600)) },
	"The emergency file is on another disk.": func(p *play) {
		p.must(os.Rename(p.emergencyFile("jsonl"), strings.TrimSuffix(p.emergencyFile("jsonl"), "jsonl")+"away"))
	},
	"The emergency file is back.": func(p *play) {
		p.must(os.Rename(p.emergencyFile("away"), strings.TrimSuffix(p.emergencyFile("away"), "away")+"jsonl"))
	},
	"The emergency file is moved away.":  func(p *play) { p.must(os.Remove(p.emergencyFile("jsonl"))) },
	"The emergency file is damaged.":     func(p *play) { p.swap(p.emergencyFile("jsonl"), "{", "[") },
	"The emergency file is restored.":    func(p *play) { p.swap(p.emergencyFile("jsonl"), "[", "{") },
	"A newer version writes the ledger.": func(p *play) { p.patchLedger(60, 0, 0, 1, 0) }, // SQLite's user_version
	"The disk changes the ledger.":       func(p *play) { p.patchLedger(4096, bytes.Repeat([]byte{0xff}, 20_000)...) },
	"The attribute Postcode becomes a TextArea.": func(p *play) {
		p.otherTemplates(`"name":"Postcode","dataType":"Text"`, `"name":"Postcode","dataType":"TextArea"`)
	},
	"The template Sign your claim is deleted and made again.": func(p *play) {
		p.otherTemplates(`c199c0a9-8a62-4ac1-bac0-cddb0346ce06`, `d199c0a9-8a62-4ac1-bac0-cddb0346ce06`)
	},
	"The column Settle says created beside a step that is done.": func(p *play) { p.putStep("Settle", 2, "created") },
	"The cell is cleared.": func(p *play) { p.putStep("Settle", 2, "") },
	"A file of received events is damaged.": func(p *play) {
		p.must(os.MkdirAll(p.path(".claimsheet/tracking/uat"), 0o700))
		p.must(os.WriteFile(p.path(".claimsheet/tracking/uat/1.events.json"), []byte("{"), 0o600))
	},
	"The file of received events is moved away.": func(p *play) { p.must(os.Remove(p.path(".claimsheet/tracking/uat/1.events.json"))) },
	"The computer is switched off while the next run goes on.": func(p *play) {
		p.atFirstPost(func() { p.must(os.CopyFS(p.path("then"), os.DirFS(p.path(".claimsheet")))) })
	},
	"The computer is switched on again.": func(p *play) {
		p.must(errors.Join(os.RemoveAll(p.path(".claimsheet")), os.Remove(p.path("leads.results.xlsx")), os.Rename(p.path("then"), p.path(".claimsheet"))))
	},
	"The cells of the column Settle beside uncertain steps say perhaps.":     func(p *play) { p.decide("perhaps") },
	"The cells of the column Settle beside uncertain steps say not created.": func(p *play) { p.decide("not created") },
	"The templates of the run are damaged.": func(p *play) {
		kept, err := filepath.Glob(p.path(".claimsheet/templates/*"))
		p.must(err)
		for _, path := range kept {
			p.must(os.WriteFile(path, []byte("{"), 0o600))
		}
	},
	"A cell of leads.results.xlsx is changed.":        func(p *play) { p.putResult("Results", "B2", "Anna") },
	"A state in the sheet Steps is changed.":          func(p *play) { p.putStep("State", 2, "ready") },
	"The column State of the sheet Steps is deleted.": func(p *play) { p.putStep("State", 1, "") },
	"The copy of the sheet is changed.":               func(p *play) { p.eachInput(func(data string) string { return data + "x" }) },
	"The copy of the sheet is restored.":              func(p *play) { p.eachInput(func(data string) string { return data[:len(data)-1] }) },
	"Another run begins.": func(p *play) {
		p.must(os.Mkdir(p.path(".claimsheet"), 0o700))
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

// patchLedger changes bytes of the ledger.
func (p *play) patchLedger(at int64, bytes ...byte) {
	f, err := os.OpenFile(p.path(".claimsheet/ledger.db"), os.O_RDWR, 0)
	p.must(err)
	_, err = f.WriteAt(bytes, at)
	p.must(errors.Join(err, f.Close()))
}

// emergencyFile is the path of the one emergency file, whose name ends so.
func (p *play) emergencyFile(suffix string) string {
	files, err := filepath.Glob(p.path(".claimsheet/emergency-*." + suffix))
	p.must(err)
	if len(files) != 1 {
		p.t.Fatalf("the emergency files are %q", files)
	}
	return files[0]
}

// swap replaces the first character of a file.
func (p *play) swap(path, from, to string) {
	data, err := os.ReadFile(path)
	p.must(err)
	p.must(os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o600))
}

// decide writes into the column Settle beside every uncertain step.
func (p *play) decide(text string) {
	f, err := excelize.OpenFile(p.path("leads.results.xlsx"))
	p.must(err)
	rows, err := f.GetRows("Steps")
	p.must(errors.Join(err, f.Close()))
	for i, row := range rows {
		if slices.Contains(row, "uncertain") {
			p.putStep("Settle", i+1, text)
		}
	}
}

func (p *play) eachInput(change func(data string) string) {
	inputs, err := filepath.Glob(p.path(".claimsheet/inputs/*"))
	p.must(err)
	for _, path := range inputs {
		data, err := os.ReadFile(path)
		p.must(err)
		p.must(os.WriteFile(path, []byte(change(string(data))), 0o600))
	}
}

// putResult changes a cell of leads.results.xlsx.
func (p *play) putResult(sheet, at, text string) {
	f, err := excelize.OpenFile(p.path("leads.results.xlsx"))
	p.must(err)
	defer f.Close()
	p.must(f.SetCellStr(sheet, at, text))
	p.must(f.Save())
}

// putStep changes a cell of the sheet Steps of leads.results.xlsx.
func (p *play) putStep(column string, row int, text string) {
	f, err := excelize.OpenFile(p.path("leads.results.xlsx"))
	p.must(err)
	rows, err := f.GetRows("Steps")
	p.must(errors.Join(err, f.Close()))
	at, err := excelize.CoordinatesToCellName(slices.Index(rows[0], column)+1, row)
	p.must(err)
	p.putResult("Steps", at, text)
}

// templatesOf is the sandbox with changed templates.
func templatesOf(p *play, change func([]map[string]any) []map[string]any) http.Handler {
	data, err := os.ReadFile(filepath.Join(root, "apiclient", "sandbox", "templates.json"))
	p.must(err)
	var list []map[string]any
	p.must(json.Unmarshal(data, &list))
	data, err = json.Marshal(change(list))
	p.must(err)
	service, err := sandbox.New(sandbox.Options{Templates: data})
	p.must(err)
	return service
}

// rewriteSheet changes the XML of a workbook's first sheet.
func rewriteSheet(path string, change func(xml string) string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	in, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, part := range in.File {
		r, err := part.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if part.Name == "xl/worksheets/sheet1.xml" {
			content = []byte(change(string(content)))
		}
		w, err := out.Create(part.Name)
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), os.WriteFile(path, b.Bytes(), 0o600))
}
