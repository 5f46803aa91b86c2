//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

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
		visitStudio(b, strings.TrimSpace(link), nil, nil).until("a judgement of all rows", func(st studioState) bool {
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
