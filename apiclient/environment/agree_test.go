package environment_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckAgreement names the fields that a mapping does not fill where they
// stand, with the nearest that it does.
func TestCheckAgreement(t *testing.T) {
	const entries = `default: uat
environments:
  uat:
    base_url: https://uat.example.com
    wire:
      lookup_agree:
        lastNam: /surname
        email: /email
        name.first: /firstName
`
	env, err := load(t, entries).Choose("uat")
	if err != nil {
		t.Fatal(err)
	}
	if found := env.CheckAgreement([]string{"email", "lastNam", "name.first", "more"}); len(found) > 0 {
		t.Error(report(t, found))
	}
	got := report(t, env.CheckAgreement([]string{"email", "lastName"}))
	want := `7:9: wire.lookup_agree compares the client field “lastNam” before a client is taken over, and the mapping does not fill it [unfilled-field]
    did you mean “lastName”? Otherwise add it to client.fields of the mapping, or take it out of lookup_agree
9:9: wire.lookup_agree compares the client field “name.first” before a client is taken over, and the mapping does not fill it [unfilled-field]
    add it to client.fields of the mapping, or take it out of lookup_agree
`
	var lines []string
	for _, line := range strings.Split(got, "\n") {
		if _, rest, ok := strings.Cut(line, ".yaml:"); ok {
			line = rest
		}
		lines = append(lines, line)
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
