//go:build unix

package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

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
