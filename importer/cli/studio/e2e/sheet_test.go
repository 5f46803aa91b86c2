package e2e

import (
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"
)

// messyHeaders are the columns of the messy sheet: one header stands twice, and one column
// has none.
var messyHeaders = []string{
	"Lead ref", "Created", "Source", "Title", "Forename", "Surname", "D.O.B.", "Email address", "Tel (mobile)", "Tel (home)",
	"Addr 1", "Town", "Post code", "Prev. surname", "Finance company", "Agreement no.", "Amount borrowed", "Start", "Term", "APR %",
	"Commission?", "Vehicle reg", "Make", "Model", "Consent?", "Notes", "Notes", "Agent", "", "Settled",
}

// messyRow is a row of the messy sheet as a UK sales team writes it: every cell is a text.
// Two rows are one lead.
func messyRow(n int) []string {
	lead := n / 2
	of := func(list ...string) string { return list[n%len(list)] }
	person := func(list ...string) string { return list[lead%len(list)] }
	first := person("Margaret", "Oluwaseun", "Siân", "D'Arcy", "Priya", "Kasia", "Tom")
	last := person("O'Neill", "Griffiths", "MacDonald", "Patel", "Nowak")
	born := fmt.Sprintf("%02d/%02d/19%02d", 1+lead*7%28, 1+lead*5%12, 50+lead*3%49)
	mobile := fmt.Sprintf("07700 900%03d", 100+lead%900)
	switch lead {
	case 3:
		born = "31/02/1984"
	case 5, 9:
		born = "N/A"
	case 7:
		mobile = "tbc"
	}
	return []string{
		fmt.Sprintf("%05d", 10234+lead), fmt.Sprintf("%02d/%02d/2026 %02d:%02d", 1+n%28, 1+n%9, 8+n%9, n*7%60), person("Facebook", "Google", "", "Referral"),
		person("Mr", "Mrs", "", "Dr"), first, last, born,
		strings.NewReplacer("'", "", "â", "a").Replace(strings.ToLower(first+"."+last)) + fmt.Sprint(lead) + "@example.net", mobile, of("", "", "0131 496 0123"),
		fmt.Sprint(lead+1, " ", person("High Street", "Station Road", "Church Lane")), person("Leeds", "Cardiff", "Glasgow"),
		person("LS1 4AP", "CF10 1EP", "g2 1al"), person("", "", "", "", "Khan"),
		of("LLOY", "Lloyds", "BARC", "Black Horse", "NatWest"), fmt.Sprintf("AG%05d", 20000+n), fmt.Sprintf("£%d,%03d.00", 2+n%9, n*137%1000),
		fmt.Sprintf("%02d/%02d/20%02d", 1+n*3%28, 1+n*11%12, 10+n%14), fmt.Sprint(12 * (2 + n%4)), fmt.Sprintf("%d.9%%", 3+n%9),
		person("Yes", "No", "Unsure", "N/A"), fmt.Sprintf("AB%d CDE", 10+n), of("Ford", "BMW", "Kia"), of("Focus", "320d", "Ceed"),
		person("Y", "Y", "N", "yes", "maybe"), of("", "", "call after 6 pm"), of("see e-mail", "", ""), of("KP", "JM"), of("", "", "", "", "", "", "x"),
	}
}

// messySheet writes leads.xlsx: two title lines, an empty one, the headers in row 4, and a
// total below. The column Settled holds the texts of settled in turn.
func messySheet(p *place, settled ...string) {
	p.t.Helper()
	rows := [][]string{{"Weekly leads — CRM export"}, {"Region: UK", "", "printed 19/10/2026"}, {}, messyHeaders}
	for n := range 40 {
		row := append(messyRow(n), settled[n%len(settled)])
		rows = append(rows, row)
	}
	total := make([]string, len(messyHeaders))
	total[0], total[16] = "TOTAL", "£240,000.00"
	p.sheet("leads.xlsx", append(rows, total))
}

// sheet writes a workbook of texts.
func (p *place) sheet(name string, rows [][]string) {
	p.t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range rows {
		must(p.t, f.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &row))
	}
	must(p.t, f.SaveAs(p.path(name)))
}
