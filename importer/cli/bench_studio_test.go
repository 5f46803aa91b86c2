//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStudio measures how long claimsheet studio takes over a sheet of 20 columns,
// from the start of the program, and, in the same run, claimsheet check over the same
// sheet, which reads it once and judges every row too. The ratios are studio's times over
// check's: until the page shows its first state, the sheet being read, and until the whole
// of it is judged. BENCH_ROWS sets the number of rows.
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
		link = strings.TrimSpace(link)
		base, _, _ := strings.Cut(link, "/?token=")
		jar, err := cookiejar.New(nil)
		must(b, err)
		client := &http.Client{Jar: jar}
		times := watchStudio(b, client, base, link, began)
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

// watchStudio opens the page and waits until the whole sheet is judged.
func watchStudio(b *testing.B, client *http.Client, base, link string, began time.Time) map[string]time.Duration {
	times := map[string]time.Duration{}
	ask := func(url string) []byte {
		response, err := client.Get(url)
		must(b, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must(b, err)
		return body
	}
	ask(link)
	since := ""
	for {
		body := ask(base + "/api/state" + since)
		if len(body) == 0 {
			continue
		}
		var st struct {
			Version, Progress int
			Judgement         struct {
				Complete bool
				Error    string
			}
		}
		must(b, json.Unmarshal(body, &st))
		note := func(name string, is bool) {
			if _, known := times[name]; is && !known {
				times[name] = time.Since(began)
			}
		}
		note("state", true)
		if note("judged", st.Judgement.Complete); st.Judgement.Complete {
			return times
		}
		if st.Judgement.Error != "" {
			b.Fatal(st.Judgement.Error)
		}
		since = fmt.Sprintf("?since=%d.%d", st.Version, st.Progress)
	}
}
