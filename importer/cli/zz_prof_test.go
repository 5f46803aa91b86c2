package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"claimsheet/importer/cli"
)

func BenchmarkZProf(b *testing.B) {
	rows := 30_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_ROWS")); err == nil {
		rows = n
	}
	dir := b.TempDir()
	path := filepath.Join(dir, "leads.xlsx")
	if f := os.Getenv("BENCH_FILE"); f != "" {
		path = f
	} else {
		writeDryRunSheet(b, path, rows)
	}
	write(b, filepath.Join(dir, "mapping.yaml"), dryRunMapping)
	b.ResetTimer()
	for b.Loop() {
		var out, diagnostics bytes.Buffer
		args := []string{"run", "--dry-run", "--no-lookup", "--json", "-e", "sandbox", "-o", filepath.Join(dir, "x.plan.xlsx"), "-m", filepath.Join(dir, "mapping.yaml"), path}
		if code := cli.Main(context.Background(), args, cli.IO{Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}); code != 0 {
			b.Fatalf("exit code %d\n%s%s", code, &out, &diagnostics)
		}
	}
}
