package cli_test

import (
	"bytes"
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
	"claimsheet/importer/cli"
	"claimsheet/importer/cli/explain"
)

// TestExplainExamples plays both examples of every entry: the bad one must show its code
// and no other, and the good one must succeed and show none. An entry may name another
// test that has its code, or say why none can; the test prints how many do.
func TestExplainExamples(t *testing.T) {
	t.Parallel()
	elsewhere, unplayed := 0, 0
	for _, s := range explain.Subjects() {
		for _, e := range s.Entries {
			why, isUnplayed := strings.CutPrefix(e.Test, "none, because ")
			switch {
			case isUnplayed:
				unplayed++
				t.Logf("%s is not played, because %s", e.Code, why)
			case e.Test != "":
				elsewhere++
				checkTestOf(t, e)
			default:
				t.Run(e.Code, func(t *testing.T) {
					t.Parallel()
					playEntry(t, e)
				})
			}
		}
	}
	t.Logf("%d entries: %d are played here, %d by other tests, %d by none", len(explain.Codes()), len(explain.Codes())-elsewhere-unplayed, elsewhere, unplayed)
	if elsewhere > 25 || unplayed > 7 {
		t.Errorf("%d entries are played by other tests and %d by none: play them here", elsewhere, unplayed)
	}
}

// checkTestOf checks that the test that an entry names is in the file that it names, which
// must have the code. A script belongs to TestScripts.
func checkTestOf(t *testing.T, e explain.Entry) {
	name, file, _ := strings.Cut(e.Test, " ")
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatalf("%s: %v", e.Code, err)
	}
	text := string(data)
	if !strings.Contains(text, "["+e.Code+"]") && !strings.Contains(text, `"`+e.Code+`"`) {
		t.Errorf("%s: the file %s does not have the code", e.Code, file)
	}
	if strings.HasSuffix(file, ".go") && !strings.Contains(text, "func "+name+"(") {
		t.Errorf("%s: the file %s does not have %s", e.Code, file, name)
	}
}

func playEntry(t *testing.T, e explain.Entry) {
	p := newPlay(t, e)
	bad, _, badText := p.example(e.Bad)
	if !e.Then {
		p = newPlay(t, e)
	}
	good, code, goodText := p.example(e.Good)
	if !bad[e.Code] {
		t.Errorf("the bad example does not show the code:\n%s", badText)
	}
	for other := range bad {
		if other != e.Code && !slices.Contains(e.Also, other) {
			t.Errorf("the bad example shows [%s] too:\n%s", other, badText)
		}
	}
	for shown := range good {
		t.Errorf("the good example shows [%s]:\n%s", shown, goodText)
	}
	if code != 0 {
		t.Errorf("the good example ends with exit code %d:\n%s", code, goodText)
	}
}

// play is a folder in which examples are played, with a service.
type play struct {
	t         *testing.T
	entry     explain.Entry
	dir       string
	url       string
	service   http.Handler
	fault     atomic.Pointer[fault]
	release   func()            // ends another run
	elsewhere bool              // the commands are typed in another folder
	words     map[string]string // what words of the commands stand for
}

// fault answers a request in the service's place, if it returns true.
type fault func(w http.ResponseWriter, r *http.Request) bool

func (p *play) setFault(f fault) { p.fault.Store(&f) }

func newPlay(t *testing.T, e explain.Entry) *play {
	p := &play{t: t, entry: e, dir: t.TempDir()}
	if strings.Contains(e.Command+"\n"+e.Bad.String()+e.Good.String(), " -e ") { // else nothing asks the service
		service, err := sandbox.New(sandbox.Options{})
		p.must(err)
		p.serve(service)
	}
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.csv"} {
		text, _ := explain.Base(name)
		p.write(name, text)
	}
	if e.Scene != "" {
		prepare, ok := explainScenes[e.Scene]
		if !ok {
			t.Fatalf("there is no scene %q", e.Scene)
		}
		prepare(p)
	}
	return p
}

// write writes a file of the folder; the address of the examples becomes that of the service.
func (p *play) write(name, text string) {
	write(p.t, filepath.Join(p.dir, name), strings.ReplaceAll(text, "https://uat.example.com/api", p.url))
}

// example plays an example. The result is the codes that its last command shows.
func (p *play) example(x explain.Example) (codes map[string]bool, exit int, text string) {
	played := false
	for _, part := range x {
		command, isCommand := strings.CutPrefix(part.Text, "$ ")
		switch {
		case part.File != "":
			p.file(part)
		case isCommand:
			played = true
			exit, text = p.command(command)
		default:
			if do, ok := explainDeeds[part.Text]; ok {
				do(p)
			}
		}
	}
	if !played {
		exit, text = p.command(p.entry.Command)
	}
	codes = map[string]bool{}
	for _, m := range inBrackets.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(gaps, m[1]) || m[1] == p.entry.Code {
			codes[m[1]] = true
		}
	}
	return codes, exit, strings.ReplaceAll(text, p.dir+string(filepath.Separator), "")
}

// gaps are warnings of what an example leaves out because it is short.
var gaps = []string{"unused-columns", "unfilled-attributes"}

// logged matches a warning of a log, with its code.
var logged = regexp.MustCompile(`(?m)^.* level=WARN .* code=([a-z-]+) .*$`)

var inBrackets = regexp.MustCompile(`(?m)\[([a-z0-9]+(?:-[a-z0-9]+)*)\]$`)

// file writes a file of an example.
func (p *play) file(part explain.Part) {
	text := part.Text + "\n"
	switch base, _ := explain.Base(part.File); {
	case part.Whole:
	case part.File == "leads.csv":
		text = csvOf(p.t, spliceTable(p.t, base, text))
	case part.File == "leads.xlsx":
		base, _ := explain.Base("leads.csv")
		p.workbook(spliceTable(p.t, base, text))
		return
	case base != "":
		text = spliceYAML(base, text)
	}
	p.write(part.File, text)
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
var described = regexp.MustCompile(`^(.*) \((error|date|formula without a result|number(?: as (.*))?)\)$`)

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
	check(rewriteSheet(p.path("leads.xlsx"), func(xml string) string {
		return errorFormula.ReplaceAllString(xml, `<c r="$1" t="e"><v>$2</v></c>`)
	}))
}

// errorFormula is a cell that is to hold an error, which excelize does not write.
var errorFormula = regexp.MustCompile(`<c r="(\w+)"[^>]*><f>(#[^<]*)</f>.*?</c>`)

func putDescribed(f *excelize.File, at, text string) error {
	m := described.FindStringSubmatch(text)
	if m == nil {
		return f.SetCellStr("Leads", at, text)
	}
	format := m[3]
	switch m[2] {
	case "error":
		return f.SetCellFormula("Leads", at, m[1]) // see withErrors
	case "formula without a result":
		return f.SetCellFormula("Leads", at, m[1])
	case "date":
		moment, err := time.Parse("2006-01-02 15:04"[:len(m[1])], m[1])
		serial := moment.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24
		if format = "yyyy-mm-dd"; serial != math.Trunc(serial) {
			format += " hh:mm"
		}
		if len(m[1]) == len("15:04") {
			moment, err = time.Parse("15:04", m[1])
			serial, format = moment.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Hours()/24, "hh:mm"
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
	case "cp":
		data, err := os.ReadFile(path(1))
		if err != nil {
			return err
		}
		return os.WriteFile(path(2), data, 0o600)
	case "mkdir":
		return os.MkdirAll(path(last), 0o700)
	case "touch":
		return os.WriteFile(path(1), nil, 0o600)
	case "chmod":
		mode, err := strconv.ParseUint(args[1], 8, 32)
		if err != nil {
			return err
		}
		return os.Chmod(path(2), os.FileMode(mode))
	}
	return fmt.Errorf("the examples cannot play %s", args[0])
}

// fileName matches the words that name a file or folder of the example's folder.
var fileName = regexp.MustCompile(`^[\w. /-]*\.(yaml|csv|xlsx|xls|zip|gz|txt|prom|log|json|jsonl|db)$|^[a-z]+/$|^[a-z]+/[a-z-]+$`)

// claimsheet runs the program in the folder. An example whose mapping or environments file
// is in the folder need not say so.
func (p *play) claimsheet(args []string) (exit int, text string) {
	args = slices.Clone(args)
	if args[0] == "settle" && p.words == nil && len(args) > 3 {
		p.numberSteps()
	}
	at := 1
	if args[0] == "ledger" {
		at = 2
	}
	for i, arg := range args {
		if file, isFile := strings.CutPrefix(arg, "file:"); isFile {
			args[i] = "file:" + filepath.Join(p.dir, file)
		} else if word, ok := p.words[arg]; ok {
			args[i] = word
		} else if i >= at && fileName.MatchString(arg) {
			args[i] = filepath.Join(p.dir, arg)
		}
	}
	if p.elsewhere {
		p.elsewhere = false
		return p.main(args)
	}
	if !slices.Contains(args, "-m") && slices.Contains([]string{"check"}, args[0]) {
		args = slices.Insert(args, at, "-m", filepath.Join(p.dir, "mapping.yaml"))
	}
	if !slices.Contains(args, "--environments") && slices.Contains([]string{"settle", "link", "history", "report", "templates", "doctor", "init", "ledger", "track", "rerun"}, args[0]) && !slices.Contains(args, "-m") {
		args = slices.Insert(args, at, "--environments", filepath.Join(p.dir, "environments.yaml"))
	}
	return p.main(args)
}

// numberSteps lets 1 and 2 in commands stand for the first two uncertain steps: the
// examples do not know their numbers.
func (p *play) numberSteps() {
	_, list := p.command("claimsheet settle -e uat")
	p.words = map[string]string{}
	for i, m := range stepNumber.FindAllStringSubmatch(list, -1) {
		p.words[strconv.Itoa(i+1)] = m[1]
	}
}

var stepNumber = regexp.MustCompile(`(?m)^([0-9]+)  `)

func (p *play) main(args []string) (exit int, text string) {
	var out, problems bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &problems, Env: func(string) string { return "" }}
	exit = cli.MainAt(p.t.Context(), args, stdio, cli.QuickPace())
	log, _ := os.ReadFile(p.path("run.log")) // some warnings are in the log only
	return exit, "$ claimsheet " + strings.Join(args, " ") + "\n" + out.String() + problems.String() + logged.ReplaceAllString(string(log), "[$1]\n")
}

// TestExplainCommand: the codes that it takes, what it does not know, and its JSON.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (int, string, string) {
		var out, problems bytes.Buffer
		code := quickMain(t.Context(), append([]string{"explain"}, args...), cli.IO{Out: &out, Err: &problems, Env: os.Getenv})
		return code, out.String(), problems.String()
	}
	if code, out, problems := run("[unknown-key]", "not-date"); code != 0 || problems != "" || !strings.Contains(out, "unknown-key - ") || !strings.Contains(out, "not-date - ") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}
	if code, out, problems := run("unknwon-key"); code != 2 || out != "" || !strings.Contains(problems, "did you mean “unknown-key”?") {
		t.Errorf("exit code %d: %s%s", code, out, problems)
	}
	code, out, _ := run()
	for _, known := range explain.Codes() {
		if !strings.Contains(out, "\n   "+known) {
			t.Errorf("exit code %d, and the list lacks %s", code, known)
		}
	}
	for line := range strings.Lines(out) {
		if n := len([]rune(line)); n > 81 {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
}
