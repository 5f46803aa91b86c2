package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
)

var (
	benchClients     = flag.Int("clients", 500, "clients of the sheet of BenchmarkRun and BenchmarkWorkers, each with 6 calls")
	benchConcurrency = flag.Int("in-flight", 32, "calls of BenchmarkRun in flight at the service")
	benchLeast       = flag.Float64("least-ratio", 0, "BenchmarkRun fails where the best ratio of its rounds is lower")
	benchRounds      = flag.Int("rounds", 1, "how often BenchmarkRun measures run and bare loop, and BenchmarkWorkers all ways, one after the other")
	benchProfile     = flag.String("run-cpuprofile", "", "`FILE` for a CPU profile of BenchmarkRun's runs")
)

const (
	benchCalls   = 6 // of each client
	benchMapping = `
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
)

// BenchmarkRun measures whole runs of the built program (start, sheet, ledger, calls, workbook) and, one after the
// other in the same benchmark, a bare loop: a program that makes the same calls in the same order with net/http, as
// many in flight, and remembers nothing. Each is a process of its own, and so is the service, the sandbox in memory,
// which waits before it answers: 0, 5 or 20 ms.
//
// The metric ratio is the bare loop's time over the run's, the best of the rounds. cpu-us/call is the run's processor
// time for each call, which other programs on the machine disturb less; bare-cpu-us/call the bare loop's, and
// service-cpu-us/call the service's beside the run.
//
//	go test ./importer/cli -run '^$' -bench '^BenchmarkRun$' -benchtime 1x -clients 5000
func BenchmarkRun(b *testing.B) {
	sheet := filepath.Join(b.TempDir(), "leads.xlsx")
	writeBenchSheet(b, sheet, 0, *benchClients)
	program := programName
	if *benchProfile != "" {
		program = "claimsheet-profiled"
	}
	for _, delay := range []string{"0ms", "5ms", "20ms"} {
		b.Run(delay, func(b *testing.B) {
			for b.Loop() {
				var best benchRound
				for range *benchRounds {
					r := measureRound(b, program, sheet, delay)
					b.Logf("ratio %.3f: run %s, %s of processor; bare loop %s, %s of processor", r.ratio(), r.run.wall, r.run.processor, r.bare.wall, r.bare.processor)
					if r.ratio() > best.ratio() {
						best = r
					}
				}
				calls := benchCalls * *benchClients
				b.ReportMetric(best.ratio(), "ratio")
				b.ReportMetric(float64(calls)/best.run.wall.Seconds(), "calls/s")
				b.ReportMetric(float64(calls)/best.bare.wall.Seconds(), "bare-calls/s")
				b.ReportMetric(float64(best.run.processor.Microseconds())/float64(calls), "cpu-us/call")
				b.ReportMetric(float64(best.bare.processor.Microseconds())/float64(calls), "bare-cpu-us/call")
				b.ReportMetric(float64(best.service.Microseconds())/float64(calls), "service-cpu-us/call")
				b.ReportMetric(float64(best.ledger)/float64(calls), "ledger-bytes/step")
				if best.ratio() < *benchLeast {
					b.Errorf("the best of %d ratios is %.3f, want %.2f", *benchRounds, best.ratio(), *benchLeast)
				}
			}
		})
	}
}

// benchTime is what a process took.
type benchTime struct{ wall, processor time.Duration }

// benchRound is one run and the bare loop beside it, and the processor time of the run's service.
type benchRound struct {
	run, bare benchTime
	service   time.Duration
	ledger    int64 // bytes of the ledger's file
}

func (r benchRound) ratio() float64 {
	if r.run.wall == 0 {
		return 0
	}
	return r.bare.wall.Seconds() / r.run.wall.Seconds()
}

// measureRound measures a run and the bare loop, each with a service of its own.
func measureRound(b *testing.B, program, sheet, delay string) (r benchRound) {
	concurrency := strconv.Itoa(*benchConcurrency)
	service, end := startBenchService(b, delay)
	r.bare = timed(b, "claimsheet-bench-bare", service, strconv.Itoa(*benchClients), concurrency)
	end()

	dir := b.TempDir()
	service, end = startBenchService(b, delay)
	write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
	write(b, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+service+"'}}\n")
	r.run = timed(b, program, "run", "-m", filepath.Join(dir, "mapping.yaml"), "--json", "--concurrency", concurrency,
		"-o", filepath.Join(dir, "results.xlsx"), sheet)
	r.service = end()
	info, err := os.Stat(filepath.Join(dir, ".claimsheet", "ledger.db"))
	must(b, err)
	r.ledger = info.Size()
	return r
}

// timed measures a process that must end well.
func timed(b *testing.B, name string, args ...string) benchTime {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "BENCH_CPUPROFILE="+*benchProfile)
	started := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", name, err, out)
	}
	return benchTime{time.Since(started), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// startBenchService starts a service in a process of its own, and returns its address.
// end ends it, at the latest with the benchmark, and returns its processor time.
func startBenchService(b *testing.B, delay string) (address string, end func() time.Duration) {
	cmd := exec.Command("claimsheet-bench-service", delay)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	end = sync.OnceValue(func() time.Duration {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	})
	b.Cleanup(func() { end() })
	line, _, err := bufio.NewReader(out).ReadLine()
	must(b, err)
	return string(line), end
}

// benchPrograms are the processes that BenchmarkRun starts, beside the program.
var benchPrograms = map[string]func(){
	"claimsheet-bench-service": func() { exitWith(serveBench(os.Args[1])) },
	"claimsheet-bench-bare":    func() { exitWith(bareLoop(os.Args[1], os.Args[2], os.Args[3])) },
	"claimsheet-profiled":      profiled,
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveBench serves the sandbox until its input ends. Each answer is delayed.
func serveBench(delay string) error {
	wait, err := time.ParseDuration(delay)
	if err != nil {
		return err
	}
	service, err := sandbox.New(sandbox.Options{})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait > 0 {
			time.Sleep(wait)
		}
		service.ServeHTTP(w, r)
	})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark closes it, or ends
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// profiled is the program with the CPU profile of its run in a file.
func profiled() {
	f, err := os.Create(os.Getenv("BENCH_CPUPROFILE"))
	exitWith(err)
	exitWith(pprof.StartCPUProfile(f))
	cli.SetUpProcess(os.Getenv)
	code := cli.Main(context.Background(), os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv})
	pprof.StopCPUProfile()
	exitWith(f.Close())
	os.Exit(code)
}

// writeBenchSheet writes a sheet of clients; the first has this number.
func writeBenchSheet(b *testing.B, path string, first, clients int) {
	writeRows(b, path, excelize.NewFile(), []any{"E-mail", "Name", "Address", "Post code", "No", "Amount"}, clients, func(i int) []any {
		i += first
		return []any{fmt.Sprintf("c%d@example.com", i), "Łukasz O’Brien", fmt.Sprintf("%d High Street", i), "ZZ1 1ZZ", fmt.Sprintf("A-%05d", i), 1000.5 + float64(i)}
	})
}

// writeRows writes so many rows below a header.
func writeRows(b *testing.B, path string, f *excelize.File, header []any, rows int, row func(i int) []any) {
	b.Helper()
	w, err := f.NewStreamWriter("Sheet1")
	must(b, err)
	must(b, w.SetRow("A1", header))
	for i := range rows {
		must(b, w.SetRow(fmt.Sprint("A", i+2), row(i)))
	}
	must(b, w.Flush())
	must(b, f.SaveAs(path))
}

// bareLoop makes the calls of BenchmarkRun's runs with net/http alone.
func bareLoop(service, clients, concurrency string) error {
	n, err := strconv.Atoi(clients)
	inFlight, err2 := strconv.Atoi(concurrency)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	c := bareClient{service: service + "/funnel/v2", http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}}
	if err := c.call(http.MethodGet, "/activity-templates", nil, &c.templates); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(inFlight)
	for i := range n {
		g.Go(func() error { return c.importClient(i) })
	}
	return g.Wait()
}

type bareClient struct {
	service   string
	http      *http.Client
	templates []struct {
		ID, Name                   string
		ActivityAttributeTemplates []struct{ ID, Name string }
	}
}

// importClient makes one client's calls.
func (c *bareClient) importClient(i int) (err error) {
	post := func(path string, body any) (answer struct{ ContactID, ClaimID string }) { // what the next call needs
		if err == nil {
			err = c.call(http.MethodPost, path, body, &answer)
		}
		return answer
	}
	number := fmt.Sprintf("A-%05d", i)
	contact := post("/contacts?isAdministrator=true", map[string]any{"email": fmt.Sprintf("c%d@example.com", i), "lastName": "Łukasz O’Brien"}).ContactID
	ofContact := "/activities?contactId=" + url.QueryEscape(contact)
	post(ofContact, c.activity("Your details", "Submitted",
		"Home address", map[string]any{"stringValue": fmt.Sprintf("%d High Street", i)}, "Postcode", map[string]any{"stringValue": "ZZ1 1ZZ"}))
	claim := post("/claims", map[string]any{"administratorId": contact, "claimants": []string{contact}, "claimName": "Loan " + number}).ClaimID
	post("/activities?claimId="+url.QueryEscape(claim), c.activity("Agreement details", "Submitted",
		"Agreement number", map[string]any{"stringValue": number}, "Amount", map[string]any{"doubleValue": 1000.5 + float64(i)}))
	post(ofContact, c.activity("Sign your claim", "Open"))
	post("/contacts/"+url.PathEscape(contact)+"/magic-link", map[string]any{})
	return err
}

// activity is a request's body. attributes are names and values in turns.
func (c *bareClient) activity(template, status string, attributes ...any) map[string]any {
	body := map[string]any{"status": status, "workflowName": "Bench", "workflowTemplateIdentifier": "WF-1"}
	var list []map[string]any
	for _, t := range c.templates {
		if t.Name != template {
			continue
		}
		body["templateId"] = t.ID
		for pair := range slices.Chunk(attributes, 2) {
			attribute := pair[1].(map[string]any)
			for _, a := range t.ActivityAttributeTemplates {
				if a.Name == pair[0] {
					attribute["templateId"] = a.ID
				}
			}
			list = append(list, attribute)
		}
	}
	if list != nil {
		body["attributes"] = list
	}
	return body
}

func (c *bareClient) call(method, path string, body, answer any) error {
	var data []byte
	var err error
	if body != nil {
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, c.service+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if data, err = io.ReadAll(res.Body); err != nil || res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %s (%w)", path, res.Status, data, err)
	}
	return json.Unmarshal(data, answer)
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	must(tb, os.WriteFile(path, []byte(content), 0o600))
}
