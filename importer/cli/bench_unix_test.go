//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// dryRunMapping uses every column of dryRunHeader: each row is a client with six calls.
const dryRunMapping = `
name: bench
api: v2
sheet: {timezone: Europe/London, when: 'col("Branch") != "closed"'}
client:
  key: E-mail
  lookup: {email: E-mail}
  fields:
    {email: {column: E-mail, type: Email}, lastName: Last name, phone: {column: Mobile, type: Phone, region: GB}, score: {column: Score, type: Number}}
claims: [{id: loan, key: Agreement no, name: "{Lender} {Agreement no}"}]
workflow: {name: Bench, template_identifier: WF-1}
activities:
  - template: Your details
    attributes:
      {Date of birth: DOB, Home address: {text: "{Address}, {Town}"}, Postcode: Post code, Consent to contact: Opt in}
  - template: Agreement details
    on: loan
    attributes:
      Lender: {column: Lender, values: {L0: Lloyds, L1: Barclays, L2: NatWest}}
      Agreement number: Agreement no
      Amount: Amount
      Term in months: Months
      Interest rate: APR
      Agreement signed at: Signed
  - {template: Sign your claim, status: Open}
`

var dryRunHeader = []any{"E-mail", "Last name", "Mobile", "Address", "Town", "Post code", "Lender", "Agreement no", "Branch",
	"Months", "APR", "Score", "Amount", "DOB", "Signed", "Opt in"}

// BenchmarkDryRun measures a whole dry run of the program as it is built (reading twice, every check, the plan
// workbook) and, in the same run, excelize's raw Rows alone over the same sheet: the metric ratio is the program's time
// over excelize's. BENCH_ROWS sets the number of rows of 16 columns, of which the mapping uses each. Numbering plans of
// phone numbers cost as much as all other columns together.
//
//	BENCH_ROWS=300000 go test ./importer/cli -run '^$' -bench DryRun -benchtime 1x
func BenchmarkDryRun(b *testing.B) {
	sheet, mapping, rows := dryRunFiles(b)
	for b.Loop() {
		cmd := exec.Command(programName, "run", "--dry-run", "--no-lookup", "--json", "-e", "sandbox", "-m", mapping, sheet)
		var summary bytes.Buffer
		cmd.Stdout = &summary
		run, resident := watched(b, cmd)
		var s struct {
			Rows     struct{ Planned int }
			Requests struct{ Activity, Link int }
		}
		must(b, json.Unmarshal(summary.Bytes(), &s))
		if s.Rows.Planned != rows || s.Requests.Activity != 3*rows || s.Requests.Link != rows {
			b.Fatalf("%d rows came to %+v", rows, s)
		}
		reference := excelizeRows(b, sheet, rows)
		b.ReportMetric(resident, "max-MiB")
		b.ReportMetric(run.Seconds(), "run-s")
		b.ReportMetric(reference.Seconds(), "excelize-s")
		b.ReportMetric(run.Seconds()/reference.Seconds(), "ratio")
	}
}

// dryRunFiles writes a sheet of BENCH_ROWS rows and its mapping.
func dryRunFiles(b *testing.B) (sheet, mapping string, rows int) {
	rows = 3_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_ROWS")); err == nil {
		rows = n
	}
	dir := b.TempDir()
	sheet, mapping = filepath.Join(dir, "leads.xlsx"), filepath.Join(dir, "mapping.yaml")
	writeDryRunSheet(b, sheet, rows)
	write(b, mapping, dryRunMapping)
	return sheet, mapping, rows
}

// watched runs a process that must end well. It returns how long that took, and its peak memory in MiB.
func watched(b *testing.B, cmd *exec.Cmd) (took time.Duration, resident float64) {
	b.Helper()
	began := time.Now()
	must(b, cmd.Start())
	most := watchMemory(cmd.Process.Pid)
	must(b, cmd.Wait())
	return time.Since(began), most()
}

// watchMemory follows the most memory that a process has had resident, in MiB, until it ends; 0 where the system does
// not tell. (What wait reports of a child begins with what its parent had.)
func watchMemory(pid int) (most func() float64) {
	peak, ended := 0.0, make(chan struct{})
	go func() {
		defer close(ended)
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, after, found := strings.Cut(string(status), "VmHWM:")
			if err != nil || !found {
				return
			}
			var kib float64
			if _, err := fmt.Sscan(after, &kib); err == nil {
				peak = max(peak, kib/1024)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() float64 { <-ended; return peak }
}

// excelizeRows goes through the sheet as excelize does, values as they are stored.
func excelizeRows(b *testing.B, path string, rows int) time.Duration {
	b.Helper()
	started := time.Now()
	f, err := excelize.OpenFile(path, excelize.Options{RawCellValue: true})
	must(b, err)
	defer f.Close()
	it, err := f.Rows("Sheet1")
	must(b, err)
	defer it.Close()
	n := 0
	for it.Next() {
		if _, err := it.Columns(); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != rows+1 {
		b.Fatalf("%d rows of %d", n, rows+1)
	}
	return time.Since(started)
}

// writeDryRunSheet writes what a lead sheet is like: texts, numbers, money, dates, yes and no.
func writeDryRunSheet(b *testing.B, path string, rows int) {
	b.Helper()
	f := excelize.NewFile()
	defer f.Close()
	money, _ := f.NewStyle(&excelize.Style{NumFmt: 4})
	date, _ := f.NewStyle(&excelize.Style{NumFmt: 14})
	writeRows(b, path, f, dryRunHeader, rows, func(i int) []any {
		return []any{
			fmt.Sprintf("client%d@example.com", i), fmt.Sprintf("O’Brien-%d", i), fmt.Sprintf("07911 %06d", i%1_000_000),
			fmt.Sprintf("%d High Street", i), "Leeds", "ZZ1 1ZZ", fmt.Sprintf("L%d", i%3), fmt.Sprintf("A-%07d", i), "north", 12 + i%60, 0.5 + float64(i%200)/10, i,
			excelize.Cell{StyleID: money, Value: 1000 + float64(i)/100}, excelize.Cell{StyleID: date, Value: 20_000 + i%15_000},
			excelize.Cell{StyleID: date, Value: 44_000 + i%1000}, i%2 == 0,
		}
	})
}

// BenchmarkQuietNight measures a night with nothing new for any client, and in the same benchmark a dry run of the same
// sheet on an empty ledger, each in a process of its own; then such a night again, beside ten times as many other clients
// in the same ledger. The metric cpu-ratio is the night's processor time over the dry run's, beside-ratio that of the
// later night over the first one's, and bytes/client by how much the night makes the state folder grow.
//
//	go test ./importer/cli -run '^$' -bench QuietNight -benchtime 1x -clients 50000 -timeout 1h
func BenchmarkQuietNight(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		state, leads, others := filepath.Join(dir, ".claimsheet"), filepath.Join(dir, "leads.xlsx"), filepath.Join(dir, "others.xlsx")
		writeBenchSheet(b, leads, 0, *benchClients)
		writeBenchSheet(b, others, *benchClients, 10**benchClients)
		service, _ := startBenchService(b, "0ms")
		write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
		write(b, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+service+"'}}\n")
		run := func(words ...string) benchTime {
			return timed(b, programName, append([]string{"run", "-m", filepath.Join(dir, "mapping.yaml"), "--json", "--concurrency", "32"}, words...)...)
		}
		dry := run("--dry-run", "--state", filepath.Join(dir, "empty"), leads)
		run(leads)
		before := sizeOf(b, state)
		quiet := run(leads)
		grown := sizeOf(b, state) - before
		run(others)
		beside := run(leads)
		b.ReportMetric(dry.processor.Seconds(), "dry-cpu-s")
		b.ReportMetric(quiet.processor.Seconds(), "quiet-cpu-s")
		b.ReportMetric(quiet.wall.Seconds(), "quiet-s")
		b.ReportMetric(quiet.processor.Seconds()/dry.processor.Seconds(), "cpu-ratio")
		b.ReportMetric(beside.processor.Seconds()/quiet.processor.Seconds(), "beside-ratio")
		b.ReportMetric(float64(grown)/float64(*benchClients), "bytes/client")
	}
}

// sizeOf returns how many bytes the files of a folder have.
func sizeOf(b *testing.B, folder string) (n int64) {
	b.Helper()
	must(b, filepath.Walk(folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	}))
	return n
}

// BenchmarkStudio measures how long claimsheet studio takes over a sheet of 16 columns, from the start of the program,
// and, in the same run, claimsheet check over the same sheet, which reads it once and judges every row too. The ratios
// are studio's times over check's: until the page shows its first state, the sheet being read, and until the whole of
// it is judged. BENCH_ROWS sets the number of rows.
//
//	BENCH_ROWS=300000 go test ./importer/cli -run '^$' -bench Studio -benchtime 1x
func BenchmarkStudio(b *testing.B) {
	sheet, mapping, _ := dryRunFiles(b)
	for b.Loop() {
		check, _ := watched(b, exec.Command(programName, "check", "-e", "sandbox", "-m", mapping, sheet))
		cmd := exec.Command(programName, "studio", "-e", "sandbox", "-m", mapping, sheet)
		out, err := cmd.StdoutPipe()
		must(b, err)
		began := time.Now()
		must(b, cmd.Start())
		resident := watchMemory(cmd.Process.Pid)
		link, _ := bufio.NewReader(out).ReadString('\n')
		var state time.Duration
		visitStudio(b, strings.TrimSpace(link), nil, nil).until("a judgement of all rows", func(st studioState) bool {
			state = cmp.Or(state, time.Since(began))
			if st.Judgement.Error != "" {
				b.Fatal(st.Judgement.Error)
			}
			return st.Judgement.Complete
		})
		judged := time.Since(began)
		must(b, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait()
		b.ReportMetric(resident(), "max-MiB")
		b.ReportMetric(check.Seconds(), "check-s")
		b.ReportMetric(state.Seconds(), "state-s")
		b.ReportMetric(judged.Seconds(), "judged-s")
		b.ReportMetric(judged.Seconds()/check.Seconds(), "judged-ratio")
	}
}
