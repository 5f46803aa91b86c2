//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimsheet/importer/result"
)

// hostileRows is how many rows the sheets of TestHostileRows have.
const hostileRows = 400

// canary is in cells; nothing of cells may come up on stderr.
const canary = "s3cr3t"

// TestHostileRows sends sheets full of what people, programs and attackers put
// into cells through the program as it is built. Every row is accounted for
// exactly once, what arrives at the service is literally what the cell says,
// nothing of a cell is on stderr, and nothing panics or eats the machine.
//
//	go test ./importer/cli -run HostileRows -hostile-rows 10000
func TestHostileRows(t *testing.T) {
	t.Parallel()
	binary := programName
	hostileRows := longOr(hostileRows, 120)
	for _, date1904 := range []bool{true, false}[:longOr(2, 1)] {
		t.Run(fmt.Sprintf("date1904=%v", date1904), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, nil)
			sheet := newHostileSheet(hostileRows, date1904)
			sheet.write(t, s.path("leads.xlsx"))
			summary := s.runHostile(binary)
			checkAccounts(t, summary, hostileRows)
			s.checkHostileResults(hostileRows)
			s.checkArrived(sheet)
			s.checkMadeOnce()
		})
	}
}

// runHostile runs the binary and holds its end, its memory and what it says on
// stderr against what is promised.
func (s *scene) runHostile(binary string) result.Summary {
	s.t.Helper()
	cmd := exec.Command(binary, s.args("--json", "--max-failures", "100%", "--concurrency", "8")...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	started := time.Now()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- residentPeak(cmd.Process.Pid, ended) }()
	_ = cmd.Wait()
	close(ended)
	resident := <-peak
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		s.t.Fatalf("exit code %d, want 1: some rows are invalid\n%s", code, tail(diagnostics.String()))
	}
	s.t.Logf("%.1f s, %.1f s of the processor's time, at most %d MiB", time.Since(started).Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), resident>>20)
	if resident > 512<<20 {
		s.t.Errorf("%d MiB resident", resident>>20)
	}
	for _, bad := range []string{"panic", "goroutine ", canary, "\x1b", "\u202e", "\x00", "evil"} {
		if strings.Contains(diagnostics.String(), bad) {
			s.t.Errorf("stderr holds %q:\n%s", bad, tail(diagnostics.String()))
		}
	}
	var summary result.Summary
	if err := json.Unmarshal(out.Bytes(), &summary); err != nil {
		s.t.Fatalf("stdout is not the summary: %v\n%s", err, tail(out.String()))
	}
	return summary
}

// residentPeak is the most memory that a process has had resident until it ended,
// as Linux counts it; 0 elsewhere. The figure that a parent gets at the end will
// not do: it is not less than what the parent itself held when it began the child.
func residentPeak(pid int, ended <-chan struct{}) (peak int64) {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			peak = max(peak, kib<<10)
		}
		select {
		case <-ended:
			tick.Stop()
			return peak
		case <-tick.C:
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// checkAccounts: the rows that went in are the rows that came out.
func checkAccounts(t *testing.T, summary result.Summary, rows int) {
	t.Helper()
	for _, c := range []result.Counts{summary.Rows, summary.Clients} {
		if sum := c.Done + c.Failed + c.Uncertain + c.Invalid + c.Skipped + c.Unchanged + c.Changed + c.NotStarted + c.Planned; sum != c.Total {
			t.Errorf("%d are counted, %d have a status: %+v", c.Total, sum, c)
		}
	}
	if r := summary.Rows; r.Total != rows || r.Failed+r.Uncertain+r.Changed+r.Unchanged > 0 || r.Done < rows/10 || r.Invalid < rows/10 || r.Skipped == 0 {
		t.Errorf("%d rows came to %+v", rows, r)
	}
}

// checkHostileResults: each row of the sheet stands once in the workbook, with
// a status.
func (s *scene) checkHostileResults(rows int) {
	s.t.Helper()
	seen := map[string]bool{}
	for _, r := range s.results() {
		if seen[r["Source row"]] || r["Import status"] == "" {
			s.t.Errorf("row %q stands twice, or has no status: %q", r["Source row"], r["Import status"])
		}
		seen[r["Source row"]] = true
		if r["Import status"] == "invalid" && (r["Error"] == "" || r["What to do"] == "") {
			s.t.Errorf("row %s does not say why it is invalid", r["Source row"])
		}
	}
	if len(seen) != rows {
		s.t.Errorf("%d of %d rows are in the workbook", len(seen), rows)
	}
}

// checkArrived: every address that the service got is one of the sheet's, to
// the letter.
func (s *scene) checkArrived(sheet *hostileSheet) {
	s.t.Helper()
	arrived := 0
	for _, call := range s.service.Calls() {
		if call.Kind != "activity" || !strings.Contains(call.Body, "11000000-0000-4000-8000-000000000002") {
			continue
		}
		var body struct {
			Attributes []struct{ TemplateID, StringValue string }
		}
		if err := json.Unmarshal([]byte(call.Body), &body); err != nil {
			s.t.Fatalf("a body is not JSON: %v", err)
		}
		for _, a := range body.Attributes {
			if a.TemplateID != "11000000-0000-4000-8000-000000000002" {
				continue
			}
			arrived++
			if !slices.Contains(sheet.addresses[strings.ToLower(call.Client)], a.StringValue) {
				s.t.Errorf("the service got the address %q, which no cell of the client says", a.StringValue)
			}
		}
	}
	if arrived == 0 {
		s.t.Error("no address arrived at all")
	}
}

// checkMadeOnce: nothing was created twice, however often and in whatever
// spelling the sheet asks for it.
func (s *scene) checkMadeOnce() {
	s.t.Helper()
	made := map[string]string{}
	for name, list := range s.service.Created() {
		key := strings.ToLower(name)
		if other, twice := made[key]; twice || len(list) > 1 {
			s.t.Errorf("%q was created %d times, and as %q", name, len(list), other)
		}
		made[key] = name
	}
}

// TestHostileCellTooLong: a text of 40,000 characters is more than a cell can
// hold. The workbook is refused, and nothing is sent.
func TestHostileCellTooLong(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, nil)
	sheet := newHostileSheet(0, false)
	sheet.row(false, inline("a@example.com"), inline("Ann"), "", "", inline(strings.Repeat("x", 40_000)), "", inline("A-1"))
	sheet.write(t, s.path("leads.xlsx"))
	p := s.mustRun(2)
	if !strings.Contains(p.err, s.path("leads.xlsx")+": ") || !strings.Contains(p.err, "32,767") || len(p.posts()) > 0 {
		t.Errorf("stderr %q, sent %v", p.err, p.posts())
	}
}

// pick is one of some things.
func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }
