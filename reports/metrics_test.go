package reports_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"claimsheet/reports"
)

// TestMetrics reads the metrics as Prometheus does.
func TestMetrics(t *testing.T) {
	t.Parallel()
	summary, uncertain := loans().Summary, 3
	m := reports.Metrics{Environment: "uat", Mapping: "a \"b\" \\ c\nd", Ended: time.UnixMilli(1763690000250), ExitCode: 4,
		Seconds: 83.4, SameInput: true, Uncertain: &uncertain, Summary: &summary}
	golden(t, "metrics.golden", m.Text())
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(m.Text()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"claimsheet_last_run_timestamp_seconds": 1763690000.25, "claimsheet_last_run_success": 0, "claimsheet_last_run_exit_code": 4,
		"claimsheet_last_run_duration_seconds": 83.4, "claimsheet_last_run_same_input": 1, "claimsheet_uncertain_steps": 3,
	} {
		f := families[name]
		if f == nil || len(f.Metric) != 1 || f.Metric[0].GetGauge().GetValue() != want {
			t.Errorf("%s is %v, want %v", name, f, want)
			continue
		}
		if labels := f.Metric[0].Label; len(labels) != 2 || labels[1].GetValue() != m.Mapping {
			t.Errorf("%s has the labels %v", name, labels)
		}
	}
	if got := len(families["claimsheet_last_run_rows"].Metric); got != 9 {
		t.Errorf("rows have %d statuses, want 9", got)
	}
}

func TestMetricsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "claimsheet.prom")
	for code := range 2 {
		m := reports.Metrics{Environment: "uat", Mapping: "m", Ended: time.Now(), ExitCode: code}
		if err := m.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || string(data) != m.Text() {
			t.Errorf("the file is %q, %v", data, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("the file is %v, %v; the exporter could not read it", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%d files are left, want 1", len(left))
	}
	if err := (reports.Metrics{}).WriteFile(filepath.Join(path, "below")); err == nil {
		t.Error("a file in a folder that is not there: no error")
	}
}
