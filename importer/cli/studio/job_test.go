package studio_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"claimsheet/importer/cli/studio"
	"claimsheet/importer/safefile"
)

// What a job writes is private and goes with the session; what a session that was killed
// has left goes after a day.
func TestJobFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files has another variable there")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	old, young := filepath.Join(temp, ".claimsheet-1"), filepath.Join(temp, ".claimsheet-2")
	for folder, days := range map[string]int{old: -2, young: 0} {
		must(t, errors.Join(os.Mkdir(folder, 0o700), os.Chtimes(folder, time.Time{}, time.Now().AddDate(0, 0, days))))
	}
	folders := func(want ...string) {
		t.Helper()
		slices.Sort(want)
		if got, err := filepath.Glob(filepath.Join(temp, safefile.Temporary)); err != nil || !slices.Equal(got, want) {
			t.Errorf("in the folder for temporary files are %v, want %v (error %v)", got, want, err)
		}
	}
	t.Run("a session", func(t *testing.T) {
		var used string
		b := begin(t, mappingText, sheetText, func(o *studio.Options) {
			o.Job = func(_ bool, _, folder string) []string {
				used = folder
				return nil
			}
			o.Run = nothing
		})
		b.post("/api/job", 200, "version", 1, "kind", "dry-run")
		b.until("the job's end", func(st reply) bool { return st.at("job.state") == "done" })
		if info, err := os.Stat(used); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the job's folder is %v (%v)", info, err)
		}
		folders(young, used)
	})
	folders(young)
}

// A long job stops nothing: the mapping can be changed meanwhile, and it can be cancelled.
func TestLongJob(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{}, 2)
	b := begin(t, mappingText, sheetText, func(o *studio.Options) {
		o.Job = func(bool, string, string) []string { return nil }
		o.Run = func(ctx context.Context, _ []string, _, log io.Writer) int {
			_, _ = io.WriteString(log, `{"msg":"first pass","clients":3}`+"\n")
			<-ctx.Done()
			stopped <- struct{}{}
			return 130
		}
	})
	b.post("/api/job", 200, "version", 1, "kind", "dry-run")
	b.until("the job's first news", func(st reply) bool { return st.at("job.of") == 3.0 })
	b.post("/api/job", 422, "version", 1, "kind", "sandbox").has(t, "error.code", "busy")
	b.autumn()
	st := b.judged()
	st.has(t, "job.state", "running", "version", 2)
	b.post("/api/save", 200, "version", 2)
	b.post("/api/job/cancel", 200)
	<-stopped
	b.until("the job's end", func(st reply) bool { return st.at("job.state") != "running" }).has(t, "job.state", "failed")
	b.post("/api/job/cancel", 200)                           // a second click
	b.post("/api/job", 200, "version", 2, "kind", "sandbox") // ends with the session
}
