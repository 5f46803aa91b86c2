package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
)

var benchClients = flag.Int("clients", 500, "clients of BenchmarkRun's sheet, each with 6 calls")

const benchMapping = `
name: bench
api: v2
client:
  key: E-mail
  existing: create
  fields: {email: {column: E-mail, type: Email}, lastName: Name}
claims: [{id: loan, key: No, name: "Loan {No}"}]
workflow: {name: Bench, template_identifier: WF-1}
activities:
  - {template: Your details, attributes: {Home address: {column: Address, type: TextArea}, Postcode: Post code}}
  - {template: Agreement details, on: claim, attributes: {Agreement number: No, Amount: {column: Amount, type: Currency}}}
  - {template: Sign your claim, status: Open}
`

// BenchmarkRun measures a whole run (sheet, ledger, calls, workbook) against
// the sandbox over HTTP at concurrency 32, and, in the same run, the bare calls
// without a ledger by a plain client: the metric ratio is calls per second of
// the run over those of the plain client.
//
//	go test ./importer/cli -run '^$' -bench Run -benchtime 1x -clients 5000
func BenchmarkRun(b *testing.B) {
	cli.SetUpProcess(os.Getenv)
	for b.Loop() {
		dir := b.TempDir()
		server := benchServer(b)
		writeBenchSheet(b, filepath.Join(dir, "leads.xlsx"), *benchClients)
		write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
		write(b, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+server.URL+"'}}\n")

		var out, diagnostics bytes.Buffer
		args := []string{"run", "-m", filepath.Join(dir, "mapping.yaml"), "--json", "--concurrency", "32", filepath.Join(dir, "leads.xlsx")}
		started := time.Now()
		if code := quickMain(context.Background(), args, cli.IO{Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}); code != 0 {
			b.Fatalf("exit code %d\n%s%s", code, &out, &diagnostics)
		}
		run := time.Since(started)
		calls := 6 * *benchClients
		bare := bareCalls(b, benchServer(b), *benchClients)
		b.ReportMetric(float64(calls)/run.Seconds(), "calls/s")
		b.ReportMetric(float64(calls)/bare.Seconds(), "bare-calls/s")
		b.ReportMetric(bare.Seconds()/run.Seconds(), "ratio")
	}
}

func benchServer(b *testing.B) *httptest.Server {
	service, err := sandbox.New(sandbox.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(service)
	b.Cleanup(func() { server.Close(); _ = service.Close() })
	return server
}

func writeBenchSheet(b *testing.B, path string, clients int) {
	f := excelize.NewFile()
	w, err := f.NewStreamWriter("Sheet1")
	if err == nil {
		err = w.SetRow("A1", []any{"E-mail", "Name", "Address", "Post code", "No", "Amount"})
	}
	for i := 0; i < clients && err == nil; i++ {
		err = w.SetRow(fmt.Sprintf("A%d", i+2), []any{fmt.Sprintf("c%d@example.com", i), "Łukasz O’Brien",
			fmt.Sprintf("%d High Street", i), "ZZ1 1ZZ", fmt.Sprintf("A-%05d", i), 1000.5 + float64(i)})
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.SaveAs(path)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// bareCalls makes the same number of contact and claim calls with net/http
// alone, 32 clients side by side.
func bareCalls(b *testing.B, server *httptest.Server, clients int) time.Duration {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	post := func(path, body string) (string, error) {
		res, err := client.Post(server.URL+path, "application/json", bytes.NewBufferString(body))
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode/100 != 2 {
			err = fmt.Errorf("%s: %s", res.Status, data)
		}
		var answer struct{ ContactID string }
		_ = json.Unmarshal(data, &answer)
		return answer.ContactID, err
	}
	var g errgroup.Group
	g.SetLimit(32)
	var n atomic.Int64
	started := time.Now()
	for range clients {
		g.Go(func() error {
			id, err := post("/funnel/v2/contacts?isAdministrator=true", fmt.Sprintf(`{"email":"c%d@example.com"}`, n.Add(1)))
			for i := 0; i < 5 && err == nil; i++ {
				_, err = post("/funnel/v2/claims", fmt.Sprintf(`{"administratorId":%q,"claimants":[%q],"claimName":"Loan %d"}`, id, id, i))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(started)
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}
