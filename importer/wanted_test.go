package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// TestOlderRecords reads what a ledger kept of a step before it kept columns and
// the cell of the next step: what is the same then is the same now, to the
// digest, and what differs is told as well as it can be.
func TestOlderRecords(t *testing.T) {
	const record = `{"mapping":"loans","template":"Your details","status":"Submitted","resumes":true,"values":[` +
		`{"name":"Postcode","field":"stringValue","value":"R1","cells":["R1"]},{"name":"Source","field":"stringValue","value":"web"}]}`
	const digest = "26781353505a682e054fdbb0ca6ba1c249fba8048b5239d0e6f7244bdadfa7f7"
	source := func(text string) mapping.Source {
		return mapping.Source{Row: cell.RowOf(0, 2), Columns: []int{1}, Names: []string{"ref"}, Texts: []string{text}}
	}
	step := func(change func(*mapping.Activity)) *wanted {
		text := func(s string) cell.Value { return cell.Value{Field: cell.StringValue, Literal: s} }
		act := mapping.Activity{TemplateName: "Your details", Status: mapping.Submitted, StatusSource: source("Bank"), Attributes: []mapping.Attribute{
			{Name: "Postcode", Value: text("R1"), Source: source("R1")}, {Name: "Source", Value: text("web")}}}
		change(&act)
		return wantedOf(mapping.Plan{}, &mapping.Step{Kind: mapping.ActivityStep, Activity: &act}, "loans")
	}
	cases := []struct {
		name   string
		change func(*mapping.Activity)
		want   difference
	}{
		{"nothing", func(*mapping.Activity) {}, difference{}},
		{"a cell", func(a *mapping.Activity) { a.Attributes[0].Value.Literal, a.Attributes[0].Source = "R2", source("R2") },
			difference{cells: []cellChange{{"Postcode", source("R2")}}}},
		{"another format", func(a *mapping.Activity) { a.Attributes[0].Value.Literal = "r1" }, difference{mapping: true}},
		{"a constant", func(a *mapping.Activity) {
			a.Attributes[0].Value.Literal, a.Attributes[0].Source = "ZZ", mapping.Source{}
		}, difference{mapping: true}},
		{"a column", func(a *mapping.Activity) { a.Attributes[1].Value.Literal, a.Attributes[1].Source = "R1", source("R1") },
			difference{mapping: true}},
		{"the next step", func(a *mapping.Activity) { a.Status = mapping.Open }, difference{status: true, byCell: true}},
		{"the status", func(a *mapping.Activity) { a.Status = mapping.Accepted }, difference{status: true, mapping: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var then wanted
			if err := json.Unmarshal([]byte(record), &then); err != nil {
				t.Fatal(err)
			}
			now := step(c.change)
			got := now.differs(then, func(string, mapping.Source) bool { return true })
			if len(got.cells) != len(c.want.cells) || got.mapping != c.want.mapping || got.status != c.want.status || got.byCell != c.want.byCell {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if same := now.digest() == digest; same != (c.name == "nothing") {
				t.Errorf("the digest is %s", now.digest())
			}
		})
	}
}

// TestDigest: a digest is the sum of the JSON of what is sent, whatever the texts
// are, because the ledgers of earlier runs have it.
func TestDigest(t *testing.T) {
	texts := []string{"", "R1", `say "hi"`, `a\b`, "<b>&</b>", "Łukasz", "\u2028", "\x00\t\n", "\xff", "\x7f", "İ"}
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func() string { return texts[rng.IntN(len(texts))] }
	for range 500 {
		a := wanted{Mapping: "loans", Template: pick(), Status: pick(), Resumes: true, Addresses: []string{"x"}}
		sent := wanted{Template: a.Template, Status: a.Status}
		for i := range rng.IntN(4) {
			v := wantedValue{Name: pick() + strconv.Itoa(i), Field: pick(), Value: pick(), Fold: rng.IntN(2) == 0}
			a.Values = append(a.Values, v)
			if v.Fold {
				v.Value = strings.ToLower(v.Value)
			}
			if v.Value != "" {
				sent.Values = append(sent.Values, wantedValue{Name: v.Name, Field: v.Field, Value: v.Value})
			}
		}
		slices.SortFunc(sent.Values, func(x, y wantedValue) int { return strings.Compare(x.Name, y.Name) })
		sum := sha256.Sum256(sent.json())
		if got, want := a.digest(), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s of %s, want %s", got, sent.json(), want)
		}
	}
}
