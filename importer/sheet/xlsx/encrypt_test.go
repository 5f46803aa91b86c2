package xlsx_test

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/sheet/sheettest"
)

// largeWorkbook is more than a few segments long when it is packed.
func largeWorkbook() []byte {
	var xml strings.Builder
	for i := range 900 {
		fmt.Fprintf(&xml, `<row r="%d"><c t="str"><v>%x</v></c></row>`, i+2, sha1.Sum([]byte{byte(i), byte(i >> 8)}))
	}
	return sheettest.Workbook(sheettest.Rows(xml.String())).Zip()
}

// A workbook that Excel opens without asking is opened without a password, and
// whatever password is given for others.
func TestExcelsOwnPassword(t *testing.T) {
	t.Parallel()
	data, err := excelize.Encrypt(largeWorkbook(), &excelize.Options{Password: "VelvetSweatshop"}) // excelize loses small ones
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"", "another", "VelvetSweatshop"}[:longOr(3, 1)] {
		r, err := open(sheettest.Save(t, "leads.xlsx", data), options{Password: password})
		if err != nil {
			t.Errorf("%q: %v", password, err)
			continue
		}
		all, err := sheettest.Collect(r.Records())
		if err != nil || len(all) != 900 || r.encrypted {
			t.Errorf("%q: %d rows, %v, encrypted: %t", password, len(all), err, r.encrypted)
		}
		r.Close()
	}
}
