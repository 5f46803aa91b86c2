package ledger_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestLibcIsTheOneOfSQLite: modernc.org/sqlite is C translated to Go against
// one exact version of modernc.org/libc; another one compiles and may corrupt
// the file. Nothing but this test stops a routine upgrade of the one alone.
func TestLibcIsTheOneOfSQLite(t *testing.T) {
	module := func(format, name string) string {
		out, err := exec.Command("go", "list", "-mod=readonly", "-m", "-f", format, name).Output()
		if err != nil {
			t.Skip("the go command does not tell: ", err)
		}
		return strings.TrimSpace(string(out))
	}
	text, err := os.ReadFile(module("{{.GoMod}}", "modernc.org/sqlite"))
	if err != nil {
		t.Skip("the module cache does not hold SQLite's go.mod: ", err)
	}
	want := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindStringSubmatch(string(text))
	if want == nil {
		t.Fatal("SQLite's go.mod requires no modernc.org/libc")
	}
	same(t, "version of modernc.org/libc", module("{{.Version}}", "modernc.org/libc"), want[1])
}
