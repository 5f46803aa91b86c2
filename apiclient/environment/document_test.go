package environment_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

// long asks for what takes long: .ci/run gives it.
var long = testform.Long

var update = flag.Bool("update", false, "update the golden files")

// report is a list of problems as a terminal might show it.
func report(t *testing.T, err error) string {
	t.Helper()
	var list problem.List
	if err == nil || list.Collect(err) != nil {
		t.Fatalf("the error is a %T, want problems: %v", err, err)
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintln(&b, p.Error())
		if p.Hint != "" {
			fmt.Fprintln(&b, "    "+p.Hint)
		}
	}
	return b.String()
}

// P-1 of docs/security.md: a secret that is written in the file is refused at every key, and the report does not repeat it.
func TestLoadReportsEveryProblem(t *testing.T) {
	files, err := filepath.Glob("testdata/err/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := environment.Load(path)
			if err == nil || f != nil {
				t.Fatal("no problem was found")
			}
			got := report(t, err)
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret shows in the report:\n%s", got)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".out", got)
		})
	}
}

func TestLoadTakesGoodFiles(t *testing.T) {
	for _, path := range must(filepath.Glob("testdata/ok/*.yaml"))(t) {
		if _, err := environment.Load(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// An empty entry of errors, such as one that was commented out, is not a rule: it
// would match every answer.
func TestLoadLeavesOutEmptyRules(t *testing.T) {
	e := only(t, t.TempDir(), "    errors:\n      -\n      - {status: 409, means: failed}\n      - ~\n")
	same(t, "rules", []apiclient.Rule{{Status: 409, Means: "failed"}}, e.Rules)
}

func TestLoadWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	large := write(t, dir, "large.yaml", strings.Repeat("#\n", 1<<20))
	for path, want := range map[string]string{
		filepath.Join(dir, "absent.yaml"): "no-file",
		dir:                               "not-a-file",
		large:                             "too-large",
	} {
		_, err := environment.Load(path)
		var list problem.List
		if list.Collect(err) != nil || len(list) != 1 || list[0].Code != want || list[0].Where.File != path {
			t.Errorf("%s: %v, want one problem [%s]", path, err, want)
		}
	}
}

// A file that is made to exhaust a parser gets an error, and a short one.
// C-1 of docs/security.md.
func TestC1_HostileEnvironments(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	var unknown strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&unknown, "key%d: 1\n", i)
	}
	body := "environments: {uat: {base_url: https://a.example, wire: {link_body: "
	for name, text := range map[string]string{
		"alias bomb":      bomb.String(),
		"alias in a body": body + "{a: &a {b: *a}}}}}",
		"deep flow":       "a: " + strings.Repeat("[", 500_000),
		"deep body":       body + strings.Repeat("{a: ", 5_000) + strings.Repeat("}", 5_003),
		"many keys":       strings.Repeat("a: 1\n", 100_000),
		"unknown keys":    unknown.String(),
	} {
		if !*long && len(text) > 600_000 {
			continue
		}
		if _, err := environment.Parse("environments.yaml", []byte(text)); err == nil || len(err.Error()) > 100_000 {
			t.Errorf("%s: found %t", name, err != nil)
		}
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	noError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestSchema(t *testing.T) {
	got := environment.Schema()
	if !json.Valid(got) {
		t.Fatal("the schema is not JSON")
	}
	golden(t, "testdata/schema.json", string(got))
}

// golden compares with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		noError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	same(t, path, string(must(os.ReadFile(path))(t)), got)
}
