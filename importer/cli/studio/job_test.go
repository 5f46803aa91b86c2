package studio_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"claimsheet/importer/cli/studio"
)

// What a job writes is private and goes with the session; what a session that was killed
// has left goes after a week.
func TestJobFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files has another variable there")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	old, young := filepath.Join(temp, "claimsheet-studio-1"), filepath.Join(temp, "claimsheet-studio-2")
	for _, folder := range []string{old, young} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().AddDate(0, 0, -8)); err != nil {
		t.Fatal(err)
	}
	var used string
	t.Run("a session", func(t *testing.T) {
		b := begin(t, mappingText, sheetText, func(o *studio.Options) {
			o.Job = func(_ studio.JobKind, _, folder string) []string {
				used = filepath.Dir(folder)
				return nil
			}
			o.Run = func(context.Context, []string, io.Writer, io.Writer) int { return 0 }
		})
		b.post("/api/job", 200, "version", 1, "kind", "dry-run")
		b.until("the job's end", func(st reply) bool { return st.at("job", "state") == "done" })
		if info, err := os.Stat(used); err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(used) != temp {
			t.Errorf("the job's folder is %s, %v (%v)", used, info, err)
		}
	})
	if _, err := os.Stat(used); !os.IsNotExist(err) {
		t.Errorf("the job's folder is left: %v", err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old folder is left: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

// A long job stops nothing: the mapping can be changed meanwhile, and it can be cancelled.
func TestLongJob(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{}, 2)
	b := begin(t, mappingText, sheetText, func(o *studio.Options) {
		o.Job = func(studio.JobKind, string, string) []string { return nil }
		o.Run = func(ctx context.Context, _ []string, _, log io.Writer) int {
			_, _ = io.WriteString(log, `{"msg":"first pass","clients":3}`+"\n")
			<-ctx.Done()
			stopped <- struct{}{}
			return 130
		}
	})
	b.post("/api/job", 200, "version", 1, "kind", "dry-run")
	b.until("the job's first news", func(st reply) bool { return st.at("job", "of") == 3.0 })
	busy := b.post("/api/job", 422, "version", 1, "kind", "sandbox")
	expect(t, "the code", busy.at("error", "code"), "busy")
	b.autumn()
	st := b.judged()
	expect(t, "the job", st.at("job", "state"), "running")
	expect(t, "the version", st["version"], 2)
	b.post("/api/save", 200, "version", 2)
	b.post("/api/job/cancel", 200)
	<-stopped
	st = b.until("the job's end", func(st reply) bool { return st.at("job", "state") != "running" })
	expect(t, "the job", st.at("job", "state"), "failed")
	b.post("/api/job/cancel", 200)                           // a second click
	b.post("/api/job", 200, "version", 2, "kind", "sandbox") // ends with the session
}
