//go:build unix

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
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer/cli"
)

var quietProfile = flag.String("quiet-profile", "", "a file for the processor profile of BenchmarkQuietNight's quiet night")

// quietService answers creations at once, so that a ledger with many clients is
// made quickly. Everything else is the sandbox's.
func quietService(b *testing.B) *httptest.Server {
	under := benchServer(b)
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			res, err := http.Get(under.URL + r.URL.RequestURI())
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer res.Body.Close()
			w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
			w.WriteHeader(res.StatusCode)
			_, _ = io.Copy(w, res.Body)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		id := n.Add(1)
		fmt.Fprintf(w, `{"contactId":"c-%d","claimId":"k-%d","activityId":"a-%d","redirectUrl":"https://example.com/r/%d"}`, id, id, id, id)
	}))
	b.Cleanup(server.Close)
	return server
}

// BenchmarkQuietNight measures a night with nothing new for any client, and in the
// same run a dry run of the same sheet on an empty ledger: the metric cpu-ratio is
// the processor time of the night over that of the dry run, and bytes/client is by
// how much the state folder has grown.
//
//	go test ./importer/cli -run '^$' -bench QuietNight -benchtime 1x -clients 50000 -timeout 1h
func BenchmarkQuietNight(b *testing.B) {
	cli.SetUpProcess(os.Getenv)
	for b.Loop() {
		dir := b.TempDir()
		server := quietService(b)
		writeBenchSheet(b, filepath.Join(dir, "leads.xlsx"), *benchClients)
		write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
		write(b, filepath.Join(dir, "environments.yaml"), "default: here\nenvironments: {here: {base_url: '"+server.URL+"'}}\n")
		args := func(more ...string) []string {
			return append(append([]string{"run", "-m", filepath.Join(dir, "mapping.yaml"), "--json", "--concurrency", "32"}, more...), filepath.Join(dir, "leads.xlsx"))
		}
		dry := benchRun(b, args("--dry-run", "--state", filepath.Join(dir, "empty")))
		first := benchRun(b, args())
		before := sizeOf(b, filepath.Join(dir, ".claimsheet"))
		if *quietProfile != "" {
			f, err := os.Create(*quietProfile)
			if err == nil {
				err = pprof.StartCPUProfile(f)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		quiet := benchRun(b, args())
		pprof.StopCPUProfile()
		b.ReportMetric(first.wall.Seconds(), "first-s")
		b.ReportMetric(dry.wall.Seconds(), "dry-s")
		b.ReportMetric(dry.cpu.Seconds(), "dry-cpu-s")
		b.ReportMetric(quiet.wall.Seconds(), "quiet-s")
		b.ReportMetric(quiet.cpu.Seconds(), "quiet-cpu-s")
		b.ReportMetric(quiet.cpu.Seconds()/dry.cpu.Seconds(), "cpu-ratio")
		b.ReportMetric(float64(sizeOf(b, filepath.Join(dir, ".claimsheet"))-before)/float64(*benchClients), "bytes/client")
	}
}

type benchTime struct{ wall, cpu time.Duration }

// benchRun runs a command that must succeed.
func benchRun(b *testing.B, args []string) benchTime {
	b.Helper()
	var out, diagnostics bytes.Buffer
	started, cpu := time.Now(), processorTime(b)
	code := quickMain(context.Background(), args, cli.IO{Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
	took := benchTime{time.Since(started), processorTime(b) - cpu}
	if code != 0 {
		b.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), code, &out, &diagnostics)
	}
	var s json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		b.Fatal(err)
	}
	return took
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
	if err != nil {
		b.Fatal(err)
	}
	return n
}
