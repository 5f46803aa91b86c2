package cli_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli/explain"
)

// TestExplainExamples plays both examples of every explanation: the bad one must show its code and no other, and the
// good one must succeed and show none.
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
	t     *testing.T
	dir   string
	first atomic.Pointer[func()] // is called when the next POST arrives
}

func newPlay(t *testing.T) *play {
	p := &play{t: t, dir: t.TempDir()}
	service, err := sandbox.New(sandbox.Options{})
	must(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if do := p.first.Swap(nil); do != nil {
				(*do)()
			}
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.csv"} {
		write(t, p.path(name), strings.ReplaceAll(readText(t, filepath.Join("explain", "base", name)), "https://uat.example.com/api", server.URL))
	}
	return p
}

func (p *play) path(name string) string { return filepath.Join(p.dir, name) }

var (
	exampleParts = regexp.MustCompile(`(?m)^-- (.*) --\n((?:[^$\n-].*\n|-[^-].*\n|\n)*)|^(.+)$`) // a file with its lines, or another line
	inBrackets   = regexp.MustCompile(`(?m)\[([a-z0-9]+(?:-[a-z0-9]+)*)\]$`)                     // a code
	exampleFile  = regexp.MustCompile(`^[\w. /-]*\.(yaml|csv|xlsx|txt|db)$|^[a-z]+/$`)           // a file of the folder
	gaps         = []string{"unused-columns", "unfilled-attributes"}                             // warnings of what an example leaves out because it is short
)

// example plays an example: files, commands, and sentences that explainDeeds makes true. The result is the codes that
// its last command shows.
func (p *play) example(x string) (codes map[string]bool, exit int, text string) {
	p.t.Helper()
	for _, part := range exampleParts.FindAllStringSubmatch(x+"\n", -1) {
		words := strings.Fields(part[3])
		switch {
		case part[1] == "mapping.yaml":
			p.change(part[2])
		case part[1] == "leads.xlsx":
			p.workbook(strings.Split(strings.TrimSpace(part[2]), "\n")[1:])
		case explainDeeds[part[3]] != nil:
			explainDeeds[part[3]](p)
		case len(words) > 2 && words[1] == "rm":
			must(p.t, os.RemoveAll(p.path(words[len(words)-1])))
		case len(words) == 4 && words[1] == "mv":
			must(p.t, os.Rename(p.path(words[2]), p.path(words[3])))
		case len(words) > 2 && words[1] == "claimsheet":
			for i, word := range words {
				if exampleFile.MatchString(word) {
					words[i] = p.path(word)
				}
			}
			got := claimsheet(p.t, words[2:]...)
			exit, text = got.code, got.out+got.err
		default:
			p.t.Fatalf("this cannot be played: %q", part[0])
		}
	}
	codes = map[string]bool{}
	for _, m := range inBrackets.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(gaps, m[1]) {
			codes[m[1]] = true
		}
	}
	return codes, exit, text
}

// change puts values into the mapping.
func (p *play) change(lines string) {
	var mapping, with map[string]any
	must(p.t, yaml.Unmarshal([]byte(readText(p.t, p.path("mapping.yaml"))), &mapping))
	must(p.t, yaml.Unmarshal([]byte(lines), &with))
	var merge func(into, with map[string]any)
	merge = func(into, with map[string]any) {
		for key, value := range with {
			below, ok := value.(map[string]any)
			if old, both := into[key].(map[string]any); ok && both {
				merge(old, below)
				continue
			}
			into[key] = value
		}
	}
	merge(mapping, with)
	text, err := yaml.Marshal(mapping)
	must(p.t, err)
	write(p.t, p.path("mapping.yaml"), string(text))
}

// workbook writes leads.xlsx, the sheet of the examples with other days of birth. One in ISO 8601 is a date.
func (p *play) workbook(days []string) {
	f := excelize.NewFile()
	for i, line := range strings.Split(strings.TrimSpace(readText(p.t, p.path("leads.csv"))), "\n") {
		at, _ := excelize.CoordinatesToCellName(1, i+1)
		var row []any
		for _, cell := range strings.Split(line, ",") {
			row = append(row, cell)
		}
		if i > 0 {
			row[2] = days[i-1]
			if day, err := time.Parse(time.DateOnly, days[i-1]); err == nil {
				row[2] = day
			}
		}
		must(p.t, f.SetSheetRow("Sheet1", at, &row))
	}
	must(p.t, f.SaveAs(p.path("leads.xlsx")))
}

// explainDeeds are sentences of the examples that the test makes true.
var explainDeeds = map[string]func(p *play){
	"The source has 01/05/1980, 1 May, where leads.xlsx has 5 January.": func(p *play) { p.workbook([]string{"1980-01-05", "31/12/1975"}) },
	"The ledger is moved away while the next run goes on.": func(p *play) {
		away := func() { _ = os.Rename(p.path(".claimsheet/ledger.db"), p.path(".claimsheet/ledger.db.away")) }
		p.first.Store(&away)
	},
	"The journal is on another disk.": func(p *play) { p.rename("ledger.db.outcomes", "journal.away") },
	"The journal is back.":            func(p *play) { p.rename("journal.away", "ledger.db.outcomes") },
}

// rename renames a file of the state folder.
func (p *play) rename(from, to string) {
	must(p.t, os.Rename(p.path(".claimsheet/"+from), p.path(".claimsheet/"+to)))
}

// TestExplainCommand: a list of all codes, codes with and without an explanation, and what it does not know.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	p := claimsheet(t, "explain", "[new-ledger]", "unknown-key")
	if expect(t, p.out, "new-ledger - ", "\nunknown-key: A key that does not exist. The message and its hint say the rest.\n"); p.code != 0 || p.err != "" {
		t.Errorf("exit code %d: %s", p.code, p.err)
	}
	p = claimsheet(t, "explain", "unknwon-key")
	if expect(t, p.err, "did you mean “unknown-key”?"); p.code != 2 || p.out != "" {
		t.Errorf("exit code %d: %s", p.code, p.out)
	}
	if p := claimsheet(t, "explain"); p.code != 0 || strings.Count(p.out, "\n") != len(explain.Codes()) {
		t.Errorf("exit code %d, and the list is\n%s", p.code, p.out)
	}
}

// codeInSource matches what gives a problem its code.
var codeInSource = regexp.MustCompile(`(?:problem\.New|refuse|matching)\("([a-z0-9-]+)"|(?:\bAt|[Ww]rong|WrongAt|wrongAt|warnAt|refuseStateFolder)\([^"\n]*?, "([a-z0-9-]+)"|\bCode:\s+"([a-z0-9-]+)"|[cC]ode += "([a-z0-9-]+)"|wrongConfig += "([a-z0-9-]+)"`)

// notOurs are folders whose codes are no problem codes: those of answers of test services, of number formats and of
// studio's page.
var notOurs = []string{"apiclient/sandbox", "apiclient/apitest", "importer/sheet/numfmt", "importer/cli/studio"}

// TestExplainCodes: the list has every code that the program can show, and no other.
func TestExplainCodes(t *testing.T) {
	t.Parallel()
	names, shown := explain.Names(), map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && (slices.Contains(notOurs, filepath.ToSlash(name)) || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, `"`) {
				continue // which most lines are, and the expression is slow
			}
			for _, m := range codeInSource.FindAllStringSubmatch(line, -1) {
				code := strings.Join(m[1:], "")
				shown[code] = true
				if !slices.Contains(names, code) {
					t.Errorf("%s: [%s] is not in importer/cli/explain/codes.txt", name, code)
				}
			}
		}
		return err
	})
	must(t, err)
	for _, name := range names {
		if !shown[name] {
			t.Errorf("codes.txt has %s, which the program does not have", name)
		}
	}
}
