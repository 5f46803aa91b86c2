package cli_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli/explain"
)

// TestExplainExamples plays both examples of every explanation: the bad one must show its
// code and no other, and the good one must succeed and show none.
func TestExplainExamples(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, c := range explain.Codes() {
		if c.Cause == "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			bad, _, badText := p.example(c.Bad)
			good, exit, goodText := p.example(c.Good)
			if len(bad) != 1 || !bad[c.Name] {
				t.Errorf("the bad example does not show the code alone:\n%s", badText)
			}
			if len(good) > 0 || exit != 0 {
				t.Errorf("the good example ends with exit code %d:\n%s", exit, goodText)
			}
		})
	}
}

// play is a folder in which examples are played, with a service.
type play struct {
	t       *testing.T
	dir     string
	url     string
	service http.Handler
	fault   atomic.Pointer[fault]
}

// fault answers a request in the service's place, if it returns true.
type fault func(w http.ResponseWriter, r *http.Request) bool

func (p *play) setFault(f fault) { p.fault.Store(&f) }

func newPlay(t *testing.T) *play {
	p := &play{t: t, dir: t.TempDir()}
	service, err := sandbox.New(sandbox.Options{})
	p.must(err)
	p.serve(service)
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.csv"} {
		p.write(name, exampleFile(name))
	}
	return p
}

// write writes a file of the folder; the address of the examples becomes that of the service.
func (p *play) write(name, text string) {
	write(p.t, filepath.Join(p.dir, name), strings.ReplaceAll(text, "https://uat.example.com/api", p.url))
}

// example plays an example: files, commands, and sentences that explainDeeds makes true.
// The result is the codes that its last command shows.
func (p *play) example(x string) (codes map[string]bool, exit int, text string) {
	p.t.Helper()
	played := false
	for _, part := range exampleParts.FindAllStringSubmatch(x+"\n", -1) {
		switch name, lines, line := part[1], part[2], part[3]; {
		case name != "":
			p.file(name, lines)
		case strings.HasPrefix(line, "$ "):
			played = true
			exit, text = p.command(strings.TrimPrefix(line, "$ "))
		case explainDeeds[line] == nil:
			p.t.Fatalf("there is no deed %q", line)
		default:
			explainDeeds[line](p)
		}
	}
	if !played {
		exit, text = p.command(explain.Command)
	}
	codes = map[string]bool{}
	for _, m := range inBrackets.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(gaps, m[1]) {
			codes[m[1]] = true
		}
	}
	return codes, exit, strings.ReplaceAll(text, p.dir+string(filepath.Separator), "")
}

// exampleParts matches a file with its lines, or another line.
var exampleParts = regexp.MustCompile(`(?m)^-- (.*) --\n((?:[^$\n-].*\n|-[^-].*\n|\n)*)|^(.+)$`)

// gaps are warnings of what an example leaves out because it is short.
var gaps = []string{"unused-columns", "unfilled-attributes"}

var inBrackets = regexp.MustCompile(`(?m)\[([a-z0-9]+(?:-[a-z0-9]+)*)\]$`)

// exampleFile returns a file that the examples change; "" for another name.
func exampleFile(name string) string {
	data, _ := os.ReadFile(filepath.Join("explain", "base", name))
	return string(data)
}

// file writes a file of an example.
func (p *play) file(name, text string) {
	name, whole := strings.CutSuffix(name, " (whole file)")
	switch base := exampleFile(name); {
	case whole:
	case name == "leads.csv":
		text = csvOf(p.t, spliceTable(p.t, base, text))
	case name == "leads.xlsx":
		p.workbook(spliceTable(p.t, exampleFile("leads.csv"), text))
		return
	case base != "":
		text = spliceYAML(base, text)
	}
	p.write(name, text)
}

// spliceYAML replaces lines of a YAML file by others: those of a key by those of the same
// key, and what stands below it key by key when both are maps in lines of their own.
func spliceYAML(base, lines string) string {
	into, with := splitKeys(base), splitKeys(lines)
	replaced := map[string]bool{}
	for _, w := range with {
		at := slices.IndexFunc(into, func(b keyLines) bool { return b.key == w.key })
		switch {
		case at < 0 || replaced[w.key]:
			into = append(into, w)
		case w.isMap() && into[at].isMap():
			into[at].text = w.head() + spliceYAML(into[at].below(), w.below())
		default:
			into[at] = w
		}
		replaced[w.key] = true
	}
	var b strings.Builder
	for _, block := range into {
		b.WriteString(block.text)
	}
	return b.String()
}

// keyLines is a key with all its lines.
type keyLines struct{ key, text string }

var yamlKey = regexp.MustCompile(`^( *)([^\s:#-][^:]*):( *$)?`)

func splitKeys(text string) (blocks []keyLines) {
	indent := -1
	for line := range strings.Lines(text) {
		m := yamlKey.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m != nil && (indent < 0 || len(m[1]) <= indent) {
			indent = len(m[1])
			blocks = append(blocks, keyLines{m[2], line})
		} else if len(blocks) == 0 {
			blocks = append(blocks, keyLines{"", line})
		} else {
			blocks[len(blocks)-1].text += line
		}
	}
	return blocks
}

func (b keyLines) head() string  { return b.text[:strings.Index(b.text, "\n")+1] }
func (b keyLines) below() string { return b.text[len(b.head()):] }

func (b keyLines) isMap() bool {
	below := strings.TrimSpace(b.below())
	return strings.HasSuffix(strings.TrimSpace(b.head()), ":") && below != "" && !strings.HasPrefix(below, "-")
}

// spliceTable puts columns in the place of those with the same headers. There are as many
// rows as in the columns.
func spliceTable(t *testing.T, base, columns string) [][]string {
	read := func(text string) [][]string {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	table, with := read(base), read(columns)
	if len(with) > len(table) {
		t.Fatalf("an example has at most %d rows", len(table)-1)
	}
	table = table[:len(with)]
	for c, header := range with[0] {
		at := slices.Index(table[0], header)
		for r := range table {
			if at < 0 {
				table[r] = append(table[r], with[r][c])
				continue
			}
			table[r][at] = with[r][c]
		}
	}
	return table
}

func csvOf(t *testing.T, table [][]string) string {
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(table); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// described is a cell of leads.xlsx that is not a text, with what it is.
var described = regexp.MustCompile(`^(.*) \((date|number(?: as (.*))?)\)$`)

// workbook writes leads.xlsx with the sheet Leads.
func (p *play) workbook(table [][]string) {
	f := excelize.NewFile()
	defer f.Close()
	check := func(err error) {
		if err != nil {
			p.t.Fatal(err)
		}
	}
	check(f.SetSheetName("Sheet1", "Leads"))
	for r, row := range table {
		for c, text := range row {
			at, err := excelize.CoordinatesToCellName(c+1, r+1)
			check(err)
			check(putDescribed(f, at, text))
		}
	}
	check(f.SaveAs(p.path("leads.xlsx")))
}

func putDescribed(f *excelize.File, at, text string) error {
	m := described.FindStringSubmatch(text)
	if m == nil {
		return f.SetCellStr("Leads", at, text)
	}
	format := m[3]
	switch m[2] {
	case "date":
		moment, err := time.Parse("2006-01-02 15:04"[:len(m[1])], m[1])
		serial := moment.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24
		if format = "yyyy-mm-dd"; serial != math.Trunc(serial) {
			format += " hh:mm"
		}
		m[1] = strconv.FormatFloat(serial, 'f', -1, 64)
		if err != nil {
			return err
		}
	}
	style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
	if format == "" {
		style, err = 0, nil
	}
	return errors.Join(err, f.SetCellDefault("Leads", at, m[1]), f.SetCellStyle("Leads", at, at, style))
}

// word is a word of a command line: in quotes, or without spaces.
var word = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)

func words(line string) (list []string) {
	for _, m := range word.FindAllStringSubmatch(line, -1) {
		list = append(list, m[1]+m[2]+m[3])
	}
	return list
}

// command plays a command line.
func (p *play) command(line string) (exit int, text string) {
	p.t.Helper()
	args := words(line)
	if args[0] == "claimsheet" {
		return p.claimsheet(args[1:])
	}
	if err := p.shell(args); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	return 0, ""
}

// shell plays the few other commands of the examples.
func (p *play) shell(args []string) error {
	path := func(i int) string { return filepath.Join(p.dir, args[i]) }
	switch last := len(args) - 1; args[0] {
	case "rm":
		return os.RemoveAll(path(last))
	case "mv":
		return os.Rename(path(1), path(2))
	}
	return fmt.Errorf("the examples cannot play %s", args[0])
}

// fileName matches the words that name a file or folder of the example's folder.
var fileName = regexp.MustCompile(`^[\w. /-]*\.(yaml|csv|xlsx|txt|db)$|^[a-z]+/$`)

// claimsheet runs the program in the folder. An example whose environments file is in the
// folder need not say so.
func (p *play) claimsheet(args []string) (exit int, text string) {
	args = slices.Clone(args)
	for i, arg := range args {
		if i > 0 && fileName.MatchString(arg) {
			args[i] = filepath.Join(p.dir, arg)
		}
	}
	if !slices.Contains(args, "-m") {
		args = slices.Insert(args, 1, "--environments", filepath.Join(p.dir, "environments.yaml"))
	}
	return p.main(args)
}

func (p *play) main(args []string) (exit int, text string) {
	got := claimsheet(p.t, args...)
	return got.code, "$ claimsheet " + strings.Join(args, " ") + "\n" + got.out + got.err
}

// TestExplainCommand: a list of all codes, codes with and without an explanation, and what
// it does not know.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (int, string, string) {
		p := claimsheet(t, append([]string{"explain"}, args...)...)
		return p.code, p.out, p.err
	}
	if code, out, problems := run("[new-ledger]", "unknown-key"); code != 0 || problems != "" || !strings.Contains(out, "new-ledger - ") ||
		!strings.HasSuffix(out, "\nunknown-key: A key that does not exist. The message and its hint say the rest.\n") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}
	if code, out, problems := run("unknwon-key"); code != 2 || out != "" || !strings.Contains(problems, "did you mean “unknown-key”?") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}
	if code, out, _ := run(); code != 0 || strings.Count(out, "\n") != len(explain.Codes()) {
		t.Errorf("exit code %d, and the list is\n%s", code, out)
	}
}
