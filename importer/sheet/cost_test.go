package sheet_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"

	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

// TestMain lets a test read a file in its own process, to measure its memory alone.
func TestMain(m *testing.M) {
	if request := os.Getenv("CLAIMSHEET_READ"); request != "" {
		readAlone(request)
		return
	}
	os.Exit(testform.Run(m))
}

// reading is what a process read, and what it took.
type reading struct {
	Path    string
	Options sheet.Options
	Rows    int
	Code    string  // of the problem; "" for none
	Peak    int64   // of resident memory in bytes; 0 where it is unknown
	Seconds float64 // of processor time
}

// readAlone reads a file and prints what it came to.
func readAlone(request string) {
	var r reading
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		panic(err)
	}
	err := func() error {
		opened, err := sheet.Open(r.Path, r.Options)
		if err != nil {
			return err
		}
		defer opened.Close()
		for _, err := range opened.Records() {
			if err != nil {
				return err
			}
			r.Rows++
		}
		return nil
	}()
	if p, ok := errors.AsType[problem.Problem](err); ok {
		r.Code = p.Code
	} else if err != nil {
		panic(err)
	}
	r.Peak = peakMemory()
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		panic(err)
	}
}

// peakMemory returns the most memory that this process had resident, on Linux.
func peakMemory() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// alone reads a file in a process of its own.
func alone(t testing.TB, path string, o sheet.Options) reading {
	t.Helper()
	r := reading{Path: path, Options: o}
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "CLAIMSHEET_READ="+string(request))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the reader ended with %v\n%s", err, said.String())
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	// On a busy machine the clock is of no use.
	r.Seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return r
}

// What a file may cost, however hostile it is. The costliest takes 7 s of an idle processor and more of a busy one;
// work that grows with the square of a file's size takes many minutes.
const (
	mostSeconds = 60
	mostMemory  = 512 << 20
)

// TestCosts reads files made to exhaust the machine, each in its own process: none may
// panic, take long or much memory, or give fewer rows than it has and no error.
func TestCosts(t *testing.T) {
	for _, tt := range largeFiles {
		if !*testform.Long && !tt.short {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.file)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			tt.write(f)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			r := alone(t, path, sheet.Options{})
			if r.Seconds > mostSeconds || r.Peak > mostMemory {
				t.Errorf("it takes %.1f s and %d MiB", r.Seconds, r.Peak>>20)
			}
			if r.Code != tt.want || tt.want == "" && r.Rows != tt.rows {
				t.Errorf("%d rows and the problem %q, want %d and %q", r.Rows, r.Code, tt.rows, tt.want)
			}
			t.Logf("%.2f s, %d MiB", r.Seconds, r.Peak>>20)
		})
	}
}

// largeFiles are made to exhaust the machine, or are only large.
var largeFiles = []struct {
	name, file string
	write      func(io.Writer)
	want       string // the code of the problem; "" for none
	rows       int
	short      bool // in the short form of the test too
}{
	{"a bomb of 1 GiB", "bomb.xlsx", sheetOf(repeat(" ", 1<<30)), "workbook-too-large", 0, false},
	{"a bomb of 1 GiB below the ratio", "noisy.xlsx", sheetOf(noisy(1 << 30)), "damaged-workbook", 0, false},
	{"merged cells over all rows", "tall.xlsx", merged(16_000, func(i int) string { c := columnOf(i); return c + "1:" + c + "1048576" }), "damaged-workbook", 0, true},
	{"merged cells in stairs", "stairs.xlsx", merged(1<<20-1, func(i int) string { return fmt.Sprintf("B%d:C%d", i+1, min(i+20_000, 1<<20)) }), "damaged-workbook", 0, false},
	{"ten million merged cells", "many.xlsx", merged(10_000_000, func(int) string { return "B1:C1" }), "workbook-too-large", 0, false},
	{"a row of 500 MB", "wide.xlsx", sheetOf(wideRow), "damaged-workbook", 0, false},
	{"shared strings of 380 MB", "strings.xlsx", sharedOf(25_000_000, func(i int) string { return fmt.Sprintf("%014d", i*7919) }), "workbook-too-large", 0, false},
	{"100,000 sheets and as many relations", "sheets.xlsx", manySheets(100_000), "damaged-workbook", 0, true},
	{"number formats of 1 MB", "formats.xlsx", longFormats, "", 1, true},
}

// repeat writes a text n times.
func repeat(text string, n int) func(io.Writer) {
	return func(w io.Writer) {
		b := bufio.NewWriter(w)
		for range n {
			_, _ = b.WriteString(text)
		}
		_ = b.Flush()
	}
}

// noisy writes size bytes that pack to about a hundredth: white space with a
// number now and then.
func noisy(size int) func(io.Writer) {
	return func(w io.Writer) {
		const chunk = 1000
		b := bytes.Repeat([]byte(" "), chunk)
		for n := 0; n < size; n += chunk {
			copy(b, fmt.Sprintf("%09d", n*2654435761%1_000_000_000))
			_, _ = w.Write(b)
		}
	}
}

// sheetOf is a workbook with a header, what is written, and nothing of a value
// or a row after it; texts between rows are white space to a reader.
func sheetOf(body func(io.Writer)) func(io.Writer) {
	return zipped("xl/worksheets/sheet1.xml", func(w io.Writer) {
		_, _ = io.WriteString(w, `<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>Head</v></c></row>`)
		body(w)
		_, _ = io.WriteString(w, `</sheetData></worksheet>`)
	})
}

// zipped is a workbook of one row with a part written.
func zipped(name string, body func(io.Writer)) func(io.Writer) {
	return func(f io.Writer) {
		z := zip.NewWriter(f)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		for other, text := range sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2" s="1"><v>1</v></c></row>`)).With(name, "") {
			w, _ := z.Create(other)
			_, _ = io.WriteString(w, text)
		}
		w, _ := z.Create(name)
		body(w)
		_ = z.Close()
	}
}

func columnOf(i int) string {
	name := ""
	for n := i + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// merged is a workbook of 2,000 rows of 30 cells, and n merged cells.
func merged(n int, ref func(int) string) func(io.Writer) {
	return zipped("xl/worksheets/sheet1.xml", func(w io.Writer) {
		_, _ = io.WriteString(w, `<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>Head</v></c></row>`)
		for r := 2; r <= 2001; r++ {
			fmt.Fprintf(w, `<row r="%d">%s</row>`, r*500, strings.Repeat("<c><v>1</v></c>", 30))
		}
		_, _ = io.WriteString(w, `</sheetData><mergeCells>`)
		for i := range n {
			fmt.Fprintf(w, `<mergeCell ref="%s"/>`, ref(i))
		}
		_, _ = io.WriteString(w, `</mergeCells></worksheet>`)
	})
}

func wideRow(w io.Writer) {
	_, _ = io.WriteString(w, `<row r="2">`)
	for i := range 16_384 {
		_, _ = io.WriteString(w, `<c t="str"><v>`)
		noisy(32_000)(w)
		fmt.Fprintf(w, `%d</v></c>`, i)
	}
	_, _ = io.WriteString(w, `</row>`)
}

func sharedOf(n int, text func(int) string) func(io.Writer) {
	return zipped("xl/sharedStrings.xml", func(w io.Writer) {
		b := bufio.NewWriter(w)
		_, _ = b.WriteString("<sst>")
		for i := range n {
			fmt.Fprintf(b, "<si><t>%s</t></si>", text(i))
		}
		_, _ = b.WriteString("</sst>")
		_ = b.Flush()
	})
}

func manySheets(n int) func(io.Writer) {
	return zipped("xl/workbook.xml", func(w io.Writer) {
		_, _ = io.WriteString(w, `<workbook xmlns:r="x"><sheets>`)
		for i := range n {
			fmt.Fprintf(w, `<sheet name="s%d" sheetId="%d" r:id="x%d" state="hidden"/>`, i, i, i*7919)
		}
		_, _ = io.WriteString(w, `</sheets></workbook>`)
	})
}

func longFormats(f io.Writer) {
	zipped("xl/styles.xml", func(w io.Writer) {
		_, _ = io.WriteString(w, `<styleSheet><numFmts>`)
		for i := range 8 {
			fmt.Fprintf(w, `<numFmt numFmtId="%d" formatCode="%s"/>`, 164+i, strings.Repeat("0.0;[h]#,", 100_000+i))
		}
		_, _ = io.WriteString(w, `</numFmts><cellXfs><xf/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`)
	})(f)
}
