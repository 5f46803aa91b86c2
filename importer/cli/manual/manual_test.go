package manual_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/cli/manual"
)

var page = manual.Page{
	Name: "tool do", Summary: "does what one expects of it",
	Usage: []string{"tool do [options] THING…"},
	Sections: []manual.Section{
		{Title: "Description", Text: "It does one thing after the other,\nin their order.\n\n    as it\n      is"},
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
