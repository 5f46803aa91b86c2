package reports

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claimsheet/importer/result"
)

// Metrics describe the end of a run for Prometheus, in the format of its node
// exporter's textfile collector. They hold no personal data.
type Metrics struct {
	Environment string
	Mapping     string
	Ended       time.Time
	ExitCode    int
	Seconds     float64
	SameInput   bool            // a sheet is the same file as in an earlier run
	Uncertain   *int            // steps that wait for a decision now; nil when that is not known
	Tracked     *Tracked        // what the service has said; nil when it is not tracked
	Summary     *result.Summary // nil when the run did not get that far
}

// Tracked counts what the service has said since things were sent.
type Tracked struct {
	Completed int // things that clients have completed
	Unknown   int // events with ids that the ledger does not know
}

// WriteFile replaces the file at path completely or not at all. Every user may read
// it, because the exporter runs as its own user.
func (m Metrics) WriteFile(path string) error {
	return makeFile(filepath.Dir(path), func(dst io.Writer, _ readBack) error {
		_, err := io.WriteString(dst, m.Text())
		return err
	}, func(finished, _ string) error {
		if err := os.Chmod(finished, 0o644); err != nil {
			return err
		}
		return os.Rename(finished, path)
	})
}

// Text returns the metrics in Prometheus's text format.
func (m Metrics) Text() string {
	t := &exposition{labels: fmt.Sprintf("environment=%s,mapping=%s", label(m.Environment), label(m.Mapping))}
	t.gauge("claimsheet_last_run_timestamp_seconds", "When the last run ended.", float64(m.Ended.UnixMilli())/1000)
	t.gauge("claimsheet_last_run_success", "Whether the last run ended with exit code 0.", truth(m.ExitCode == 0))
	t.gauge("claimsheet_last_run_exit_code", "The last run's exit code.", float64(m.ExitCode))
	t.gauge("claimsheet_last_run_duration_seconds", "How long the last run took.", m.Seconds)
	t.gauge("claimsheet_last_run_same_input", "Whether the last run's sheet was the same file as in an earlier run.", truth(m.SameInput))
	if m.Uncertain != nil {
		t.gauge("claimsheet_uncertain_steps", "Steps that wait for a decision.", float64(*m.Uncertain))
	}
	if m.Tracked != nil {
		t.gauge("claimsheet_completed_activities", "Activities that clients have completed, as the service says.", float64(m.Tracked.Completed))
		t.gauge("claimsheet_unknown_events", "Events of the service with ids that the ledger does not know.", float64(m.Tracked.Unknown))
	}
	if s := m.Summary; s != nil {
		t.family("claimsheet_last_run_rows", "The last run's rows by status.")
		t.counts("claimsheet_last_run_rows", s.Rows)
		t.family("claimsheet_last_run_clients", "The last run's clients by status.")
		t.counts("claimsheet_last_run_clients", s.Clients)
		t.family("claimsheet_last_run_requests", "The last run's requests by kind.")
		for _, k := range byKind(s.Requests) {
			t.sample("claimsheet_last_run_requests", ",kind="+label(k.kind), float64(k.count))
		}
	}
	return t.String()
}

// exposition is text in Prometheus's format.
type exposition struct {
	strings.Builder
	labels string // on every sample
}

func (t *exposition) gauge(name, help string, value float64) {
	t.family(name, help)
	t.sample(name, "", value)
}

func (t *exposition) family(name, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

func (t *exposition) sample(name, more string, value float64) {
	fmt.Fprintf(t, "%s{%s%s} %s\n", name, t.labels, more, strconv.FormatFloat(value, 'f', -1, 64))
}

func (t *exposition) counts(name string, c result.Counts) {
	for _, s := range byStatus(c) {
		t.sample(name, ",status="+label(strings.ReplaceAll(string(s.status), " ", "_")), float64(s.count))
	}
}

// label quotes a label's value.
func label(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
