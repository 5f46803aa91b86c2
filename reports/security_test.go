package reports_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping/cell"
)

// X-4 of docs/security.md: no text of a sheet or of the service becomes a
// formula in a workbook of ours, and none is changed to keep it from that.
func TestX4_NoFormulas(t *testing.T) {
	t.Parallel()
	payloads := []string{
		"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", "=cmd|' /C calc'!A0", `=HYPERLINK("http://evil.test","x")`,
		`=DDE("a";"b";"c")`, `=IMPORTXML("http://evil.test","//a")`, `=WEBSERVICE("http://evil.test")`, "＝1+1", "＋1", "－1", "＠SUM(1)",
		" =1+1", "'=1+1", `="a"&"b"`, "=1+1;2",
	}
	var cells []cell.Cell
	for _, p := range payloads {
		cells = append(cells, cell.Cell{Kind: cell.Text, Raw: p, Shown: p})
	}
	path, f := written(t, sheetOf(cells...))
	if diff := cmp.Diff(payloads, column(t, f, len(payloads))); diff != "" {
		t.Errorf("the texts are changed (-want +got):\n%s", diff)
	}
	if xml := partOf(t, path, "xl/worksheets/sheet1.xml"); strings.Contains(xml, "<f>") || strings.Contains(xml, "<f ") {
		t.Error("a text became a formula")
	}
}
