package manual_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/cli/manual"
)

var page = manual.Page{
	Name: "tool do", Summary: "does what one expects of it",
	Usage: []string{"tool do [options] THING…"},
	Sections: []manual.Section{
		{Title: "Description", Text: "It does one thing after the other,\nin their order.\n\n    as it\n      is\n\n.PP is no request; \\fB is no escape."},
		{Title: "Options", Items: []manual.Item{{"-f, --file FILE", "the “FILE” to read first, and to write last"}, {"--a-very-long-name-that-is-alone NAME", "beside nothing"}, {"--bare", ""}}},
	},
}

func TestText(t *testing.T) {
	t.Parallel()
	const want = `NAME:
   tool do - does what one
             expects of it

USAGE:
   tool do [options] THING…

DESCRIPTION:
   It does one thing after the
   other, in their order.

       as it
         is

   .PP is no request; \fB is no
   escape.

OPTIONS:
   -f, --file FILE  the “FILE”
                    to read
                    first, and
                    to write
                    last
   --a-very-long-name-that-is-alone NAME
                    beside
                    nothing
   --bare
`
	if diff := cmp.Diff(want, page.Text(31)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMan(t *testing.T) {
	t.Parallel()
	program := manual.Page{Name: "tool", Summary: "a tool", Usage: []string{"tool COMMAND"}}
	got := manual.Man(program, []manual.Page{page}, []manual.Section{{Title: "Exit codes", Text: "0 or 1"}}, "v1.2", time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		".TH TOOL 1 \"2026-05-01\" \"tool v1.2\"\n.SH NAME\ntool \\- a tool\n",
		"\n.SS tool do\nDoes what one expects of it.\n",
		"\n.nf\n    as it\n      is\n.fi\n",
		"\n\\&.PP is no request; \\efB is no escape.\n",
		"\n.TP\n\\fB\\-f, \\-\\-file FILE\\fR\nthe “FILE” to read first, and to write last\n",
		"\n.SH EXIT CODES\n0 or 1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
