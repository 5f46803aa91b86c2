package cli_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
)

var updateDocs = flag.Bool("update-docs", false, "write the explanations of codes into docs")

// pages are the README and the pages of docs, by path, without that of the problems, which shows mistakes.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	must(t, err)
	all := map[string]string{}
	for _, path := range append(paths, filepath.Join(root, "README.md")) {
		if filepath.Base(path) != "problems.md" {
			all[path] = readText(t, path)
		}
	}
	return all
}

// TestDocumentedFiles reads every mapping and environments file that the documentation shows, and every entry in the table of shapes of
// docs/environments.md; the index leads to every page, and pictures are there.
func TestDocumentedFiles(t *testing.T) {
	t.Parallel()
	sample := readText(t, filepath.Join(root, "samples", "first", "mapping.yaml"))
	if !slices.Contains(yamlBlocks(readText(t, filepath.Join(root, "README.md"))), strings.TrimSuffix(sample, "\n")) {
		t.Errorf("the README does not show the mapping of the first sample, which it runs:\n%s", sample)
	}
	load := func(page, block string) {
		path := filepath.Join(t.TempDir(), "environments.yaml")
		write(t, path, block)
		if _, err := environment.Load(path); err != nil {
			t.Errorf("%s: an environments file has problems:\n%v\n%s", page, err, block)
		}
	}
	mappings, environments, shapes := 0, 0, 0
	index := readText(t, filepath.Join(root, "docs", "README.md"))
	for page, text := range pages(t) {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
		for _, link := range regexp.MustCompile(`\]\((pictures/[^)]+)\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, "docs", link[1])); err != nil {
				t.Errorf("%s shows a picture: %v", page, err)
			}
		}
		for _, block := range yamlBlocks(text) {
			switch {
			case strings.Contains(block, "kind: "): // a manifest
			case strings.Contains(block, "api: "):
				mappings++
				if _, found := mapping.Parse(page, []byte(block)); len(found) > 0 {
					t.Errorf("%s: a mapping has problems:\n%v", page, found)
				}
			case strings.Contains(block, "environments:"):
				environments++
				load(page, block)
			default:
				t.Errorf("%s: a block of YAML is neither a mapping nor an environments file:\n%s", page, block)
			}
		}
		_, table, _ := strings.Cut(text, "| shape | answers | in the environment |\n|---|---|---|\n")
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			shapes++
			cells := strings.Split(line, "`")
			entry := cells[len(cells)-2]
			if inner, ok := strings.CutPrefix(entry, "{"); ok {
				entry = strings.ReplaceAll(strings.TrimSuffix(inner, "}"), "}, not_found", "}\n    not_found")
			}
			load(page, "environments:\n  uat:\n    base_url: http://127.0.0.1\n    "+entry+"\n")
		}
	}
	if mappings == 0 || environments == 0 || shapes < 12 {
		t.Errorf("%d mappings, %d environments files and %d shapes found in the documentation", mappings, environments, shapes)
	}
}

func yamlBlocks(page string) []string {
	var blocks []string
	for i, part := range strings.Split(page, "\n```") {
		if code, ok := strings.CutPrefix(part, "yaml\n"); ok && i > 0 {
			blocks = append(blocks, code)
		}
	}
	return blocks
}

// TestDocumentedCommands holds every command line that the documentation shows to the commands and flags that there
// are.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	checked := 0
	for page, text := range pages(t) {
		for _, words := range commandLines(text) {
			checkCommand(t, page, words)
			checked++
		}
	}
	if checked < 15 {
		t.Errorf("only %d command lines found in the documentation: the test looks in the wrong places", checked)
	}
}

// pageBlock is a part of a page that its reader does, in the page's order: a ```console block of commands with what they
// print below; a ```yaml block with a file's name, which the reader writes; a comment that says what the reader does to a
// workbook. pageCommand is a command, which goes on in the next line after a backslash, and pageWord a word of it.
var (
	pageBlock   = regexp.MustCompile("(?s)```console\n(.*?)```|```yaml (\\S+)\n(.*?)```|<!-- ([a-z.]+): Results!([A-Z]+[0-9]+) = (.*?) -->")
	pageCommand = regexp.MustCompile(`(?m)^\$ (.*\\\n)*.*\n`)
	pageWord    = regexp.MustCompile(`'[^']*'|[^\s'\\]+`)
	pageVaries  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d{8}T\d{6}(\.2)?| in [0-9.]+m?s\.|connection: .*|/dashboard/.*|https?://[a-z0-9.:]+(/api)?\b`)
)

// TestPages does what docs/guide.md shows, from the sheet to the nightly run with a sandbox for a service, and what
// docs/rehearsal.md shows: a night with faults, and the morning after it. That page starts the sandbox itself. What differs from run to
// run is not compared.
func TestPages(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	service, err := sandbox.New(sandbox.Options{})
	must(t, err)
	server := httptest.NewServer(service)
	defer server.Close()
	for name, url := range map[string]string{"guide": server.URL, "rehearsal": ""} {
		page := readText(t, filepath.Join(root, "docs", name+".md"))
		sample, to := regexp.MustCompile(`copy\s+.samples/([a-z]+)/`).FindStringSubmatch(page)[1], t.TempDir()
		must(t, copySample(filepath.Join(root, "samples", sample), to))
		folder := filepath.Join(to, sample)
		do := func(command string) string {
			words := pageWord.FindAllString(command, -1)[2:] // without the $ and the program's name
			for i, word := range words {
				words[i] = strings.Trim(word, "'")
			}
			if words[0] == "sandbox" {
				b := inBackground(t, cli.QuickPace(), append(words, "--addr", "127.0.0.1:0")...)
				url = b.line(&b.out, "")
				return url + "\n" + b.err.String()
			}
			p := child(programName, words, "UAT_TOKEN=unused")
			p.Dir = folder
			_, said := p.end(t)
			return strings.ReplaceAll(logLine.ReplaceAllString(said, ""), folder+string(filepath.Separator), "")
		}
		shown := pageBlock.ReplaceAllStringFunc(page, func(match string) string {
			part := pageBlock.FindStringSubmatch(match)
			switch {
			case part[2] != "":
				write(t, filepath.Join(folder, part[2]), regexp.MustCompile(`https?://\S+`).ReplaceAllString(part[3], url))
			case part[4] != "":
				editWorkbook(t, filepath.Join(folder, part[4]), func(f *excelize.File) { must(t, f.SetCellValue("Results", part[5], part[6])) })
			default:
				printed := ""
				for _, command := range pageCommand.FindAllString(part[1], -1) {
					printed += command + do(command)
				}
				return "```console\n" + printed + "```"
			}
			return match
		})
		if diff := cmp.Diff(pageVaries.ReplaceAllString(page, "…"), pageVaries.ReplaceAllString(shown, "…")); diff != "" {
			t.Errorf("what the commands of docs/%s.md print (-page +printed):\n%s", name, diff)
		}
	}
}

// typed finds command lines: in code, on lines of their own, and after a program's path.
var typed = regexp.MustCompile("(?:^|[ `/=])claimsheet ((?:[a-z]+(?:-[a-z]+)*)(?: [^`#;|&\n]*)?)")

func commandLines(page string) [][]string {
	var found [][]string
	for _, m := range regexp.MustCompile(`(?m)^ *args: \[([^\]]*)\]`).FindAllStringSubmatch(page, -1) { // of a manifest for Kubernetes
		found = append(found, strings.Fields(strings.ReplaceAll(m[1], ",", " ")))
	}
	for i, part := range strings.Split(page, "\n```") {
		for line := range strings.Lines(part) {
			if i%2 == 1 || strings.HasPrefix(line, "    ") || strings.Contains(line, "`claimsheet ") { // code
				for _, m := range typed.FindAllStringSubmatch(line, -1) {
					found = append(found, strings.Fields(m[1]))
				}
			}
		}
	}
	return found
}

// checkCommand looks a command's flags up in its own help. What stands after the first argument is for the program to
// refuse.
func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	flags, ok := flagsOf(words[0])
	if !ok {
		t.Errorf("%s: there is no command claimsheet %s", page, words[0])
		return
	}
	for _, word := range words[1:] {
		if name, _, _ := strings.Cut(word, "="); strings.HasPrefix(name, "-") && !slices.Contains(flags, name) {
			t.Errorf("%s: claimsheet %s has no flag %s", page, strings.Join(words, " "), name)
		}
	}
}

var flagName = regexp.MustCompile(`(?:^|[ ,])(--?[a-z][a-z-]*)`)

// flagsOf are the flags in the help of a command; ok is false when there is no such command.
func flagsOf(command string) (flags []string, ok bool) {
	p := runAt(context.Background(), cli.QuickPace(), "", append(strings.Fields(command), "--help")...)
	_, options, found := strings.Cut(p.out, "OPTIONS:\n")
	if p.code != 0 || !found || !strings.Contains(p.out, "claimsheet "+command) {
		return nil, false
	}
	for line := range strings.Lines(options) {
		if !strings.HasPrefix(line, "   -") {
			continue // the rest of an explanation
		}
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, m := range flagName.FindAllStringSubmatch(names, -1) {
			flags = append(flags, m[1])
		}
	}
	return flags, true
}

// printedBy returns what a command that succeeds prints on stdout.
func printedBy(t *testing.T, args ...string) string {
	t.Helper()
	p := claimsheet(t, args...)
	if p.code != 0 || p.err != "" {
		t.Fatalf("claimsheet %s: exit code %d\n%s", strings.Join(args, " "), p.code, p.err)
	}
	return p.out
}

// TestHelpOfEveryCommand: it fits 80 columns, has examples that can be typed, and is what help prints too.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"": printedBy(t, "--help")}
	for _, command := range cli.Commands() {
		pages[command] = printedBy(t, append(strings.Fields(command), "--help")...)
		if diff := cmp.Diff(pages[command], printedBy(t, append([]string{"help"}, strings.Fields(command)...)...)); diff != "" {
			t.Errorf("claimsheet help %s (-the flag +the command):\n%s", command, diff)
		}
	}
	for command, page := range pages {
		for line := range strings.Lines(page) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("claimsheet %s --help: a line has %d columns: %s", command, n, line)
			}
		}
		_, examples, _ := strings.Cut(page, "\nEXAMPLES:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		typed := 0
		for line := range strings.Lines(examples) {
			words := strings.Fields(line)
			if end := slices.Index(words, ">"); end > 0 {
				words = words[:end]
			}
			checkCommand(t, "claimsheet "+command+" --help", words[1:])
			typed++
		}
		if typed == 0 {
			t.Errorf("claimsheet %s --help has no example", command)
		}
	}
}

// TestStatusPage: docs/operations.md explains every status and every state.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	page := readText(t, filepath.Join(root, "docs", "operations.md"))
	for _, name := range []string{string(result.Invalid), string(result.Uncertain), string(result.Failed), string(result.NotStarted), string(result.Changed), string(result.Done),
		string(result.Planned), string(result.Unchanged), string(result.Skipped), string(ledger.Sent), string(ledger.Refused), string(ledger.Closed), result.StepSkipped} {
		if !strings.Contains(page, "\n| "+name+" | ") {
			t.Errorf("%q is not explained", name)
		}
	}
}

// TestJSONPage: docs/json.md has every field of every object that --json prints, in the section of its command, and every
// command with --json.
func TestJSONPage(t *testing.T) {
	t.Parallel()
	page := readText(t, filepath.Join(root, "docs", "json.md"))
	check := func(section string, object any) {
		_, text, found := strings.Cut(page, "\n## "+section+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		for _, name := range fieldNames(reflect.TypeOf(object)) {
			if !found || !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+"[]`") {
				t.Errorf("docs/json.md does not explain %s in its section “%s”", name, section)
			}
		}
	}
	commands, end := cli.Objects()
	check("Every command", end)
	check("run, rerun", result.Counts{})
	check("run, rerun", result.Requests{})
	for name, object := range commands {
		check(name, object)
	}
	explained := strings.Split(strings.Join(slices.Collect(maps.Keys(commands)), ", "), ", ")
	for _, command := range cli.Commands() {
		flags, _ := flagsOf(command)
		if known := slices.Contains(explained, command); known != slices.Contains(flags, "--json") {
			t.Errorf("claimsheet %s has --json: %v; docs/json.md has it: %v", command, !known, known)
		}
	}
}

// fieldNames are the names of a struct's fields as JSON has them, and of those of structs in it but for counts, which the
// page explains once.
func fieldNames(of reflect.Type) (names []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		return nil
	}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if name == "" { // it is not encoded
			continue
		}
		names = append(names, name)
		if inner := of.Field(i).Type; inner != reflect.TypeFor[result.Counts]() && inner != reflect.TypeFor[result.Requests]() &&
			inner != reflect.TypeFor[*result.Counts]() && inner != reflect.TypeFor[*result.Requests]() {
			names = append(names, fieldNames(inner)...)
		}
	}
	return names
}

// codeInSource matches what gives a problem its code.
var codeInSource = regexp.MustCompile(`(?:problem\.New|refuse|matching)\("([a-z0-9-]+)"|(?:\bAt|[Ww]rong|WrongAt|wrongAt|warnAt|refuseStateFolder)\([^"\n]*?, "([a-z0-9-]+)"|\bCode:\s+"([a-z0-9-]+)"|[cC]ode += "([a-z0-9-]+)"|wrongConfig += "([a-z0-9-]+)"`)

// notOurs are folders whose codes are no problem codes: those of answers of test services, of number formats and of
// studio's page.
var notOurs = []string{"apiclient/sandbox", "apiclient/apitest", "importer/sheet/numfmt", "importer/cli/studio"}

// explanation matches the text of a code.
var explanation = regexp.MustCompile(`(?s)^[A-Z].*\.\n\nFix: .*\.\n\nBad:\n.*\n\nGood:\n.`)

// TestReference: docs/problems.md has the explanations, and the files that their examples change.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	explained := 0
	names, titles, texts := cli.ProblemCodes()
	for _, name := range names {
		text, title := texts[name], titles[name]
		if text == "" {
			continue
		}
		explained++
		fmt.Fprintf(&b, "\n## %s\n\n**%s.**\n\n```text\n%s\n```\n", name, title, text)
		if strings.HasSuffix(title, ".") || !explanation.MatchString(text) {
			t.Errorf("%s: the title ends without a full stop, cause and fix with one, and two examples are behind them", name)
		}
	}
	if entries := strings.Count("\n"+readText(t, "explain/entries.txt"), "\n## "); explained > 60 || explained != entries {
		t.Errorf("%d codes are explained, want at most 60, and all %d entries", explained, entries)
	}
	b.WriteString("\n## The files of the examples\n")
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.csv"} {
		fmt.Fprintf(&b, "\n`%s`:\n\n```text\n%s```\n", name, readText(t, "explain/base/"+name))
	}
	testform.Reference(t, filepath.Join(root, "docs", "problems.md"), *updateDocs, b.String())
}

// TestExplainCodes: the list has every code that the program can show, once, and no other.
func TestExplainCodes(t *testing.T) {
	t.Parallel()
	var names []string
	shown := map[string]bool{}
	codes, _, _ := cli.ProblemCodes()
	for _, name := range codes {
		if slices.Contains(names, name) {
			t.Errorf("codes.txt has %s twice", name)
		}
		names = append(names, name)
	}
	if list := printedBy(t, "explain"); strings.Count(list, "\n") != len(names) {
		t.Errorf("claimsheet explain does not list %d codes:\n%s", len(names), list)
	}
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

// files is what a shell is asked to complete by itself.
const files = "<files>"

// TestCompletion: what can be typed at a place, by the commands and flags that there are; the last word is the one that is
// being typed, a dot for one that is no flag. Whatever stands before it, nothing is sent and written.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	before := names(t, s.dir)
	flags, _ := flagsOf("run")
	flags = slices.DeleteFunc(slices.Clone(flags), func(flag string) bool { return !strings.HasPrefix(flag, "--") })
	for _, c := range []struct{ words, want []string }{
		{[]string{"."}, cli.Commands()},
		{nil, nil},
		{[]string{"-"}, []string{"--help", "--version"}},
		{[]string{"--version"}, []string{"--help", "--version"}},
		{[]string{"run", "-m", "."}, []string{files}},
		{[]string{"run", "--d"}, flags},
		{s.args("--json"), []string{files}},
		{append(s.args("--trace", s.path("trace")), "."), []string{files}},
		{[]string{"run", "-m", s.path("mapping.yaml"), "--", s.path("leads.xlsx")}, nil},
		{[]string{"run", "-m", s.path("mapping.yaml"), "--yes", "--"}, flags},
		{[]string{"templates", "-e", "uat", "--environments", s.path("environments.yaml")}, []string{files}},
	} {
		var offered []string
		for line := range strings.Lines(printedBy(t, append(c.words, "--generate-bash-completion")...)) {
			word, does, found := strings.Cut(line, "\t")
			if word == "" && does == "files\n" {
				word = files
			}
			if offered = append(offered, word); !found {
				t.Errorf("%q: a line without a tab: %q", c.words, line)
			}
		}
		same(t, "claimsheet "+strings.Join(c.words, " "), slices.Sorted(slices.Values(c.want)), slices.Sorted(slices.Values(offered)))
	}
	if calls := s.service.Calls(); len(calls) > 0 {
		t.Errorf("requests were sent:\n%s", transcript(calls))
	}
	if diff := cmp.Diff(before, names(t, s.dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// names are the names of the files in a folder.
func names(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// shells are commands that complete the last of some words, $0 being the first, and print a candidate a line: <files>
// where bash and zsh would complete files.
var shells = map[string]struct {
	flags  []string
	script string
}{
	"bash": {nil, `eval "$(claimsheet completion bash)"; asked='<files>'; compopt() { asked=; }
COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; _claimsheet
for reply in "${COMPREPLY[@]}"; do echo "$reply"; done; [[ -z $asked ]] || echo "$asked"`},
	// The functions of zsh's completion system work in its line editor only.
	"zsh": {[]string{"-f"}, `compdef() { :; }; _files() { echo '<files>'; }; _describe() { local each; for each in ${(P)2}; do each=${each//\\:/$'\t'}; each=${each%%%%:*}; [[ $each == ${words[CURRENT]}* ]] && print -r -- ${each//$'\t'/:}; done }
source <(claimsheet completion zsh)
words=("$0" "$@"); CURRENT=$#words; _claimsheet; true`},
}

// TestCompletionInShells drives the scripts in the shells that are here.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	for name, shell := range shells {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: its completion is not tried", name)
			continue
		}
		for typed, want := range map[string][]string{
			"ru": {"run"}, "run --dry-run --env": {"--env", "--environments"}, "run --mapping map": {files}, "run --dry-run lea": {files},
			"run $(touch·planted) lea": {files}, "run -- leads.xlsx ": nil,
		} {
			words := append(shell.flags, "-c", shell.script, "claimsheet")
			for _, word := range strings.Split(typed, " ") {
				words = append(words, strings.ReplaceAll(word, "·", " "))
			}
			p := child(name, words, "HOME="+s.dir)
			p.Dir = s.dir
			if code, out := p.end(t); code != 0 || !slices.Equal(strings.Fields(out), want) {
				t.Errorf("claimsheet %s[TAB] in %s: %q (%d), want %q", typed, name, out, code, want)
			}
		}
	}
	if slices.Contains(names(t, s.dir), "planted") {
		t.Error("a shell has computed a word")
	}
}
