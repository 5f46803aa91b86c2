package mapping_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// doubling is an expression that doubles the cell's text n times.
func doubling(n int, step string) string {
	text := `let x0 = col("A"); `
	for i := range n {
		text += fmt.Sprintf("let x%d = "+step+"; ", i+1, i, i)
	}
	return text + fmt.Sprintf("x%d", n)
}

// An expression that would take all memory, or all time, ends with a problem of
// the row instead.
func TestExpressionsAreBounded(t *testing.T) {
	for name, expression := range map[string]string{
		"sums":         doubling(24, "x%d + x%d"),
		"a loop":       `reduce(1..24, #acc + #acc, col("A"))`,
		"joins":        doubling(24, "join([x%d, x%d])"),
		"replacements": doubling(24, `replace(x%d + x%d, "e", "ee")`),
		"a list":       doubling(16, "[x%d, x%d]") + ` | map(string(#)) | join("")`,
		"many texts":   `len(map(1..9000, lower("` + strings.Repeat("x", 9000) + `" + string(#)))) > 0 ? "y" : "n"`,
		"loops":        `let r = 1..1000; all(r, all(r, all(r, all(r, # > 0)))) ? "y" : "n"`,
		"a range":      `len(1..9000000) > 0 ? "y" : "n"`,
		"sorted lists": `let r = map(1..9000, string(#)); len(map(1..999, sort(r))) > 0 ? "y" : "n"`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			sheet, records := leads("No | A", "1 | secret text")
			binding := mustBind(t, fields("a: {expr: '"+expression+"'}"), sheet, nil)
			started := time.Now()
			runtime.ReadMemStats(&before)
			plan := planAll(binding, records)[0]
			runtime.ReadMemStats(&after)
			if len(plan.Problems) != 1 || plan.Problems[0].Code != "expression" {
				t.Errorf("expected one problem, got %.300s", fmt.Sprint(plan.Problems))
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 256 {
				t.Errorf("%d MiB were used", used)
			}
			if took := time.Since(started); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// What is no attack gives what it gave without the bounds.
func TestBoundedExpressionsAreTheSame(t *testing.T) {
	for expression, want := range map[string]string{
		`col("A") + " " + col("No")`:                                       "one two 1",
		`num("No") + 1`:                                                    "2",
		`"n" + string(num("No") + 1)`:                                      "n2",
		`join(split(col("A"), " "), "-")`:                                  "one-two",
		`join(map(split(col("A"), " "), upper(#)))`:                        "ONETWO",
		`replace(col("A"), "o", "0")`:                                      "0ne tw0",
		`reduce(1..4, #acc + #)`:                                           "10",
		`reduce(split(col("A"), " "), #acc + "/" + #)`:                     "one/two",
		`string(len(filter(1..100, # % 2 == 0)))`:                          "50",
		`any(split(col("A"), " "), # == "two") ? "yes" : "no"`:             "yes",
		`upper(trim(split(col("A"), " ")[0]))`:                             "ONE",
		`(date("D") + duration("24h")).Format("2006-01-02")`:               "2026-01-03",
		`find(split(col("A"), " "), # startsWith "t") ?? "none"`:           "two",
		`first(sort(split(col("A"), " "), "desc"))`:                        "two",
		`{"one two": "both"}[col("A")]`:                                    "both",
		`let parts = split(col("A"), " "); parts[1] + parts[0]`:            "twoone",
		`string(sum(map(split(col("A"), " "), len(#))))`:                   "6",
		`count(split(col("A"), ""), # in ["o", "w"]) > 2 ? "many" : "few"`: "many",
		`fromJSON("[1, 2]")[1]`:                                            "2",
		`string(toBase64(col("A")) == "b25lIHR3bw==")`:                     "true",
	} {
		t.Run(expression, func(t *testing.T) {
			sheet, records := leads("No | A | D", "1 | one two | 2026-01-02")
			plan := planAll(mustBind(t, fields("a: {expr: '"+expression+"'}"), sheet, nil), records)[0]
			if len(plan.Problems) > 0 || len(plan.Steps) == 0 || len(plan.Steps[0].Fields) == 0 {
				t.Fatalf("nothing is planned: %v", plan.Problems)
			}
			if got := plan.Steps[0].Fields[0].Value.Literal; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
