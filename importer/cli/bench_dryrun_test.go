//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
    email: {column: E-mail, type: Email}
    firstName: First name
    lastName: Last name
    phone: {column: Mobile, type: Phone, region: GB}
    branch: Branch
    dependants: {column: Dependants, type: Number}
    score: {column: Score, type: Number}
    fees: {column: Fees, type: Currency}
    active: {column: Active, type: Checkbox}
claims: [{id: loan, key: Agreement no, name: "{Lender} {Agreement no}"}]
workflow: {name: Bench, template_identifier: WF-1}
activities:
  - template: Your details
    attributes:
      Date of birth: {column: DOB, type: Date}
      Home address: {text: "{Address}, {Town}", type: TextArea}
      Postcode: Post code
      Consent to contact: {column: Opt in, type: Checkbox}
  - template: Agreement details
    on: loan
    attributes:
      Lender: {column: Lender, type: DropDown, values: {L0: Lloyds, L1: Barclays, L2: NatWest}}
      Agreement number: Agreement no
      Amount: {column: Amount, type: Currency, required: true}
      Term in months: {column: Months, type: Number}
      Interest rate: {column: APR, type: Number}
      Agreement signed at: {column: Signed, type: DateTime}
  - {template: Sign your claim, status: Open}
`

var dryRunHeader = []any{"E-mail", "First name", "Last name", "Mobile", "Address", "Town", "Post code", "Lender", "Agreement no", "Branch",
	"Months", "APR", "Dependants", "Score", "Amount", "Fees", "DOB", "Signed", "Opt in", "Active"}

// BenchmarkDryRun measures a whole dry run of the program as it is built (reading twice, every check, the plan
// workbook) and, in the same run, excelize's raw Rows alone over the same sheet: the metric ratio is the program's time
// over excelize's, and cpu-ratio the same of the processor's time, which other programs on the machine disturb less.
// BENCH_ROWS sets the number of rows of 20 columns, of which the mapping uses each; in plain, the phone number is sent
// as a text.
//
//	BENCH_ROWS=300000 go test ./importer/cli -run '^$' -bench DryRun -benchtime 1x
func BenchmarkDryRun(b *testing.B) {
	rows := 3_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_ROWS")); err == nil {
		rows = n
	}
	dir := b.TempDir()
	path := filepath.Join(dir, "leads.xlsx")
	writeDryRunSheet(b, path, rows)
	binary := programName
	// Numbering plans cost as much as all other columns together.
	b.Run("phones", func(b *testing.B) { benchDryRun(b, binary, path, dryRunMapping, rows) })
	b.Run("plain", func(b *testing.B) {
		benchDryRun(b, binary, path, strings.Replace(dryRunMapping, "{column: Mobile, type: Phone, region: GB}", "Mobile", 1), rows)
	})
}

func benchDryRun(b *testing.B, binary, path, mapping string, rows int) {
	mappingFile := filepath.Join(filepath.Dir(path), "mapping.yaml")
	write(b, mappingFile, mapping)
	for b.Loop() {
		cmd := exec.Command(binary, "run", "--dry-run", "--no-lookup", "--json", "-e", "sandbox", "-m", mappingFile, path)
		var out, diagnostics bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &diagnostics
		started := time.Now()
		must(b, cmd.Start())
		resident := watchMemory(cmd.Process.Pid)
		if err := cmd.Wait(); err != nil {
			b.Fatalf("%v\n%s%s", err, &out, &diagnostics)
		}
		run := time.Since(started)
		b.ReportMetric(resident(), "max-MiB")
		checkDryRun(b, out.Bytes(), rows)
		before := processorTime(b)
		reference := excelizeRows(b, path, rows)
		processor := processorTime(b) - before
		b.ReportMetric(run.Seconds(), "run-s")
		b.ReportMetric(reference.Seconds(), "excelize-s")
		b.ReportMetric(run.Seconds()/reference.Seconds(), "ratio")
		b.ReportMetric((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()/processor.Seconds(), "cpu-ratio")
	}
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

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// checkDryRun fails the benchmark unless every row was planned with all its calls.
func checkDryRun(b *testing.B, summary []byte, rows int) {
	b.Helper()
	var s struct {
		Rows     struct{ Total, Planned int }
		Requests struct{ Client, Claim, Activity, Link int }
	}
	must(b, json.Unmarshal(summary, &s))
	if s.Rows.Planned != rows || s.Requests.Client != rows || s.Requests.Activity != 3*rows || s.Requests.Claim != rows || s.Requests.Link != rows {
		b.Fatalf("%d rows came to %+v", rows, s)
	}
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
			fmt.Sprintf("client%d@example.com", i), "Łukasz", fmt.Sprintf("O’Brien-%d", i), fmt.Sprintf("07911 %06d", i%1_000_000),
			fmt.Sprintf("%d High Street", i), "Leeds", "ZZ1 1ZZ", fmt.Sprintf("L%d", i%3), fmt.Sprintf("A-%07d", i), "north",
			12 + i%60, 0.5 + float64(i%200)/10, i % 5, i,
			excelize.Cell{StyleID: money, Value: 1000 + float64(i)/100}, excelize.Cell{StyleID: money, Value: float64(i%5000) / 100},
			excelize.Cell{StyleID: date, Value: 20_000 + i%15_000}, excelize.Cell{StyleID: date, Value: 44_000 + i%1000},
			i%2 == 0, i%3 == 0,
		}
	})
}
