//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
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

var quietProfile = flag.Bool("quiet-cpuprofile", false, "-run-cpuprofile is of BenchmarkQuietNight's quiet night")

// BenchmarkQuietNight measures a night with nothing new for any client, and in the same benchmark a dry run of the same
// sheet on an empty ledger, each in a process of its own. The metric cpu-ratio is the night's processor time over the
// dry run's, and bytes/client by how much the night makes the state folder grow.
//
//	go test ./importer/cli -run '^$' -bench QuietNight -benchtime 1x -clients 50000 -timeout 1h
func BenchmarkQuietNight(b *testing.B) {
	for b.Loop() {
		n := newQuietNights(b)
		dry := n.run(b, "--dry-run", "--state", filepath.Join(n.dir, "empty"))
		n.run(b)
		before := sizeOf(b, n.state())
		if *quietProfile {
			n.program = "claimsheet-profiled"
		}
		quiet := n.run(b)
		b.ReportMetric(dry.processor.Seconds(), "dry-cpu-s")
		b.ReportMetric(dry.wall.Seconds(), "dry-s")
		b.ReportMetric(quiet.processor.Seconds(), "quiet-cpu-s")
		b.ReportMetric(quiet.wall.Seconds(), "quiet-s")
		b.ReportMetric(quiet.processor.Seconds()/dry.processor.Seconds(), "cpu-ratio")
		b.ReportMetric(float64(sizeOf(b, n.state())-before)/float64(*benchClients), "bytes/client")
	}
}

// BenchmarkQuietNightBesideOthers measures a night with nothing new for any client, then
// imports ten times as many other clients into the same ledger, and measures such a night
// again. The metric cpu-ratio is the second night's processor time over the first's.
func BenchmarkQuietNightBesideOthers(b *testing.B) {
	for b.Loop() {
		n := newQuietNights(b)
		n.run(b)
		alone := n.run(b)
		sheet := n.sheet
		n.sheet = filepath.Join(n.dir, "others.xlsx")
		writeBenchSheet(b, n.sheet, *benchClients, 10**benchClients)
		n.run(b)
		n.sheet = sheet
		beside := n.run(b)
		b.ReportMetric(alone.processor.Seconds(), "alone-cpu-s")
		b.ReportMetric(beside.processor.Seconds(), "beside-cpu-s")
		b.ReportMetric(beside.processor.Seconds()/alone.processor.Seconds(), "cpu-ratio")
	}
}

// quietNights is a folder with a sheet, a mapping and an environment.
type quietNights struct{ program, dir, sheet string }

func newQuietNights(b *testing.B) *quietNights {
	dir := b.TempDir()
	n := &quietNights{program: programName, dir: dir, sheet: filepath.Join(dir, "leads.xlsx")}
	writeBenchSheet(b, n.sheet, 0, *benchClients)
	service, _ := startBenchService(b, "0ms")
	write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
	write(b, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+service+"'}}\n")
	return n
}

// state is the state folder.
func (n *quietNights) state() string { return filepath.Join(n.dir, ".claimsheet") }

// run runs the sheet.
func (n *quietNights) run(b *testing.B, more ...string) benchTime {
	b.Helper()
	args := append([]string{"run", "-m", filepath.Join(n.dir, "mapping.yaml"), "--json", "--concurrency", "32"}, more...)
	return timed(b, n.program, append(args, n.sheet)...)
}

// sizeOf returns how many bytes the files of a folder have.
func sizeOf(b *testing.B, folder string) (n int64) {
	b.Helper()
	err := filepath.Walk(folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	must(b, err)
	return n
}

// BenchmarkStudio measures how long claimsheet studio takes over a sheet of 20 columns, from the start of the program,
// and, in the same run, claimsheet check over the same sheet, which reads it once and judges every row too. The ratios
// are studio's times over check's: until the page shows its first state, the sheet being read, and until the whole of
// it is judged. BENCH_ROWS sets the number of rows.
//
//	BENCH_ROWS=300000 go test ./importer/cli -run '^$' -bench Studio -benchtime 1x
func BenchmarkStudio(b *testing.B) {
	rows := 3_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_ROWS")); err == nil {
		rows = n
	}
	dir := b.TempDir()
	path, mapping := filepath.Join(dir, "leads.xlsx"), filepath.Join(dir, "mapping.yaml")
	writeDryRunSheet(b, path, rows)
	write(b, mapping, dryRunMapping)
	binary := programName
	for b.Loop() {
		cmd := exec.Command(binary, "check", "-e", "sandbox", "-m", mapping, path)
		began := time.Now()
		must(b, cmd.Start())
		checkMemory := watchMemory(cmd.Process.Pid)
		must(b, cmd.Wait())
		check := time.Since(began)
		b.ReportMetric(checkMemory(), "check-max-MiB")

		cmd = exec.Command(binary, "studio", "-e", "sandbox", "-m", mapping, path)
		var diagnostics bytes.Buffer
		cmd.Stderr = &diagnostics
		out, err := cmd.StdoutPipe()
		must(b, err)
		began = time.Now()
		must(b, cmd.Start())
		resident := watchMemory(cmd.Process.Pid)
		link, _ := bufio.NewReader(out).ReadString('\n')
		times := map[string]time.Duration{}
		visitStudio(b, strings.TrimSpace(link), nil, nil).until(func(st studioState) bool {
			if times["state"] == 0 {
				times["state"] = time.Since(began)
			}
			if st.Judgement.Error != "" {
				b.Fatal(st.Judgement.Error)
			}
			times["judged"] = time.Since(began)
			return st.Judgement.Complete
		})
		must(b, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait()
		b.ReportMetric(resident(), "max-MiB")
		b.ReportMetric(check.Seconds(), "check-s")
		for name, t := range times {
			b.ReportMetric(t.Seconds(), name+"-s")
			b.ReportMetric(t.Seconds()/check.Seconds(), name+"-ratio")
		}
	}
}
