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
	"strings"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli/explain"
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
	"a sheet in windows-1252": func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "zoe@example.com,Zo\xeb,01/05/1980,A-1") },
	"a zero-width space":      func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "ann@example.com,\u200b,01/05/1980,A-1") },
	"a control character":     func(p *play) { p.leads("E-mail,First name,DOB,Agreement no", "ann@example.com,A\ann,01/05/1980,A-1") },
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

// serve puts another service in the place of the usual one.
func (p *play) serve(service http.Handler) {
	server := httptest.NewServer(service)
	p.t.Cleanup(server.Close)
	p.url = server.URL
	text, _ := explain.Base("environments.yaml")
	p.write("environments.yaml", text)
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
