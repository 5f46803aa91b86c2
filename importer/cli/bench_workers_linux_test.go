package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claimsheet/importer/ledger/postgres/pgtest"
)

var benchEach = flag.Int("in-flight-each", 8, "calls of each process of BenchmarkWorkers in flight at the service")

// benchWay is a way to have a sheet carried out.
type benchWay struct {
	name     string
	database bool // the ledger is in a database, not in a file
	workers  int  // 0: the run sends everything itself
}

var benchWays = []benchWay{{name: "file"}, {"database", true, 0}, {"workers=1", true, 1}, {"workers=2", true, 2}, {"workers=4", true, 4}}

// BenchmarkWorkers measures how fast one, two and four workers carry a run out, against a run that sends everything
// itself with a ledger in a file, and beside it one with a ledger in a database. Runs and workers are processes of the
// built program, and so is the service of BenchmarkRun, which waits 20 or 5 ms. Each process that sends has as many
// calls in flight, so that four workers have four times as many as one. The files are on the disk of the database,
// which waits for it as the file does.
//
// A round measures all ways one after the other, every second one backwards. Metrics are the medians of the rounds:
// ratio is the time of the run with a file over that of the way, in the same round; cpu-us/call is the processor time
// of the run and its workers for each call, and database-cpu-us/call the database's; database-bytes/step is by how much
// the database grows, and connections/process how many each has at most. A run is measured from its start to its
// workbook; its workers have been started before and wait for it, and have made the tables.
//
//	go test ./importer/cli -run '^$' -bench '^BenchmarkWorkers$' -benchtime 1x -timeout 1h -clients 2000 -rounds 3
func BenchmarkWorkers(b *testing.B) {
	server := pgtest.Own(b)
	program := programName
	sheet := filepath.Join(b.TempDir(), "leads.xlsx")
	writeBenchSheet(b, sheet, 0, *benchClients)
	for _, delay := range []string{"20ms", "5ms"} {
		b.Run(delay, func(b *testing.B) {
			rounds := make([]map[string]benchWork, *benchRounds)
			for i := range rounds {
				ways := slices.Clone(benchWays)
				if i%2 == 1 {
					slices.Reverse(ways)
				}
				rounds[i] = map[string]benchWork{}
				for _, way := range ways {
					rounds[i][way.name] = way.measure(b, server, program, sheet, delay)
				}
			}
			for _, way := range benchWays {
				b.Run(way.name, func(b *testing.B) { way.report(b, rounds) })
			}
		})
	}
}

// benchWork is what a way took.
type benchWork struct {
	benchTime                 // the processor time is that of all client processes
	database    time.Duration // processor time
	bytes       float64       // by how much the database has grown
	connections float64       // of all processes, the most at any time
}

// report reports the medians of a way's rounds.
func (w benchWay) report(b *testing.B, rounds []map[string]benchWork) {
	for i, round := range rounds {
		b.Logf("round %d: %s, %s of processor, %s of the database's", i+1, round[w.name].wall, round[w.name].processor, round[w.name].database)
	}
	calls := float64(benchCalls * *benchClients)
	metric := func(name string, of func(file, way benchWork) float64) {
		values := make([]float64, len(rounds))
		for i, round := range rounds {
			values[i] = of(round[benchWays[0].name], round[w.name])
		}
		slices.Sort(values)
		b.ReportMetric((values[(len(values)-1)/2]+values[len(values)/2])/2, name)
	}
	metric("ns/op", func(_, way benchWork) float64 { return float64(way.wall.Nanoseconds()) })
	metric("calls/s", func(_, way benchWork) float64 { return calls / way.wall.Seconds() })
	metric("ratio", func(file, way benchWork) float64 { return file.wall.Seconds() / way.wall.Seconds() })
	metric("cpu-us/call", func(_, way benchWork) float64 { return float64(way.processor.Microseconds()) / calls })
	metric("database-bytes/step", func(_, way benchWork) float64 { return way.bytes / calls })
	metric("connections/process", func(_, way benchWork) float64 { return way.connections / float64(1+w.workers) })
	metric("database-cpu-us/call", func(_, way benchWork) float64 { return float64(way.database.Microseconds()) / calls })
}

// measure has the sheet carried out with a service, a folder and a ledger of its own.
func (w benchWay) measure(b *testing.B, server *pgtest.Server, program, sheet, delay string) (work benchWork) {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "claimsheet-bench-") // where the server has its files; b.TempDir may be in memory
	must(b, err)
	defer os.RemoveAll(dir)
	service, end := startBenchService(b, delay)
	defer end()
	entry := fmt.Sprintf("base_url: %q", service)
	if w.database {
		entry += fmt.Sprintf(", ledger: %q", server.URL())
	}
	environments := filepath.Join(dir, "environments.yaml")
	write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
	write(b, environments, "default: here\nenvironments: {here: {"+entry+"}}\n")
	run := []string{"run", "-m", filepath.Join(dir, "mapping.yaml"), "--json", "--concurrency", strconv.Itoa(*benchEach), "-o", filepath.Join(dir, "results.xlsx")}

	server.Exec(b, "CHECKPOINT") // none of what was before is written meanwhile
	stops := make([]func() time.Duration, w.workers)
	for i := range stops {
		stops[i] = startBenchWorker(b, program, environments, filepath.Join(dir, fmt.Sprint("worker-", i)))
	}
	if w.workers > 0 {
		run = append(run, "--workers")
	}
	before, size := databaseTime(b, server), numberOf(b, server, databaseSize)
	ended, counted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(counted)
		for {
			work.connections = max(work.connections, numberOf(b, server, "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"))
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	work.benchTime = timed(b, program, append(run, sheet)...)
	close(ended)
	<-counted
	for _, stop := range stops {
		work.processor += stop()
	}
	work.database, work.bytes = databaseTime(b, server)-before, numberOf(b, server, databaseSize)-size
	return work
}

const databaseSize = "SELECT pg_database_size(current_database())"

// numberOf is the number that a query returns.
func numberOf(b *testing.B, server *pgtest.Server, query string) float64 {
	b.Helper()
	n, err := strconv.ParseFloat(server.Exec(b, query), 64)
	if err != nil {
		b.Error(err)
	}
	return n
}

// startBenchWorker starts a worker and waits until it works. stop ends it, at the latest
// with the benchmark, and returns its processor time since then.
func startBenchWorker(b *testing.B, program, environments, state string) (stop func() time.Duration) {
	b.Helper()
	cmd := exec.Command(program, "worker", "--environments", environments, "--state", state, "--concurrency", strconv.Itoa(*benchEach))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // it ends with the benchmark, however that ends
	must(b, cmd.Start())
	var started time.Duration
	stop = sync.OnceValue(func() time.Duration {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
			b.Errorf("a worker: %s\n%s", cmd.ProcessState, &said)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() - started
	})
	b.Cleanup(func() { stop() })
	for range 3000 {
		if _, err := os.Stat(filepath.Join(state, "worker.alive")); err == nil {
			started, _ = timeOf(b, strconv.Itoa(cmd.Process.Pid))
			return stop
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("a worker does not start")
	return nil
}

// databaseTime is the processor time that the processes of a server have used, those that have ended included.
func databaseTime(b *testing.B, server *pgtest.Server) (used time.Duration) {
	b.Helper()
	for pid := range strings.FieldsSeq(server.Exec(b, `SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1) UNION SELECT pid::text FROM pg_stat_activity`)) {
		own, children := timeOf(b, pid)
		used += own + children
	}
	return used
}

// timeOf is the processor time that a process has used, and that of those that it has
// started and that have ended; 0 for one that has ended itself.
func timeOf(b *testing.B, pid string) (own, children time.Duration) {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0
	}
	const user, system, childUser, childSystem = 11, 12, 13, 14 // behind the name
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	used := func(field int) time.Duration {
		n, err := strconv.Atoi(fields[field])
		must(b, err)
		return time.Duration(n) * 10 * time.Millisecond
	}
	return used(user) + used(system), used(childUser) + used(childSystem)
}
