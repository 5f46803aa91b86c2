package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

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
