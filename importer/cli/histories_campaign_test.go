package cli_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// leadCampaign is the mapping and the sheet of a history, as plain data.
type leadCampaign struct {
	may        func(what string) bool
	name       string
	v1         bool
	byMail     bool   // client.key is E-mail; else Lead no
	lookup     string // email, phone, both, confirm, "" for none
	existing   string // reuse, create, skip, fail
	repeatable bool   // links may be sent again when they are uncertain
	plain      bool   // the sheet is a CSV file; else a workbook
	local      bool   // the base url says localhost
	deadline   string // limits.timeout
	activities []plannedActivity
	people     []*person
	rows       []leadRow // in the sheet's order
}

// plannedActivity is an entry of the mapping's activities.
type plannedActivity struct {
	template string
	onClaim  bool
	open     bool
}

// person is a client of the sheet. Two persons with one address are still two persons.
type person struct {
	no                 string
	email, phone, born string
	amount             string
}

// leadRow is a row of the sheet: a person with a claim, or with none.
type leadRow struct {
	who   *person
	claim string
}

// key is the client key of a person, folded.
func (c *leadCampaign) key(p *person) string {
	if c.byMail {
		return folded(p.email)
	}
	return folded(p.no)
}

// newCampaign returns a random campaign.
func newCampaign(rng *rand.Rand, may func(what string) bool) *leadCampaign {
	c := &leadCampaign{
		may:        may,
		name:       "campaign",
		v1:         rng.IntN(5) == 0,
		byMail:     rng.IntN(3) == 0,
		existing:   oneOf(rng, "reuse", "reuse", "reuse", "reuse", "create", "skip", "fail"),
		repeatable: rng.IntN(6) == 0,
		plain:      rng.IntN(4) > 0,
		deadline:   "30s",
	}
	if c.existing != "create" {
		c.lookup = oneOf(rng, "email", "email", "email", "phone", "both", "confirm")
	}
	for _, a := range []plannedActivity{{template: "details"}, {template: "agreement", onClaim: true}, {template: "sign", open: true}} {
		if rng.IntN(5) > 0 && (!a.onClaim || !c.v1) {
			c.activities = append(c.activities, a)
		}
	}
	for range 2 + min(rng.IntN(11), rng.IntN(11)) {
		c.join(rng)
	}
	return c
}

func oneOf[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// join adds a person with up to three claims to the campaign, anywhere in the sheet. Some persons share an address with
// another.
func (c *leadCampaign) join(rng *rand.Rand) *person {
	n := len(c.people) + 1
	p := &person{no: fmt.Sprintf("L%d", n), email: fmt.Sprintf("p%d@example.com", n), phone: fmt.Sprintf("07911 %06d", 123000+n),
		born: fmt.Sprintf("1980-05-%02d", 1+rng.IntN(28)), amount: fmt.Sprint(100 + rng.IntN(900))}
	if n > 1 && c.may("two people have one address") {
		other := oneOf(rng, c.people...)
		if !c.byMail && rng.IntN(3) == 0 {
			p.email = other.email
		}
		if rng.IntN(3) == 0 {
			p.phone = other.phone
		}
	}
	if !c.byMail && (c.lookup == "both" || c.lookup == "") && rng.IntN(5) == 0 {
		p.email = ""
	}
	c.people = append(c.people, p)
	claims := rng.IntN(4)
	if c.v1 {
		claims = 0
	}
	rows := []leadRow{{who: p}}
	for i := range claims {
		rows = append(rows, leadRow{who: p, claim: fmt.Sprintf("A%d", i+1)})
	}
	if claims > 0 {
		rows = rows[1:]
		if rng.IntN(6) == 0 {
			rows = append(rows, rows[0]) // the same claim in a second row
		}
	}
	for _, r := range rows {
		c.rows = slices.Insert(c.rows, rng.IntN(len(c.rows)+1), r)
	}
	return p
}

// present are the people in the sheet, in its order.
func (c *leadCampaign) present() (people []*person) {
	for _, r := range c.rows {
		if !slices.Contains(people, r.who) {
			people = append(people, r.who)
		}
	}
	return people
}

// steps are what a person is to have in the end, as the sheet Steps names it.
func (c *leadCampaign) steps(p *person) []string {
	steps := []string{"client"}
	var claims []string
	for _, r := range c.rows {
		if r.who == p && r.claim != "" && !slices.Contains(claims, r.claim) {
			claims, steps = append(claims, r.claim), append(steps, "claim/loan/"+r.claim)
		}
	}
	for _, a := range c.activities {
		if !a.onClaim {
			steps = append(steps, "activity/"+a.template+"@client")
			continue
		}
		for _, claim := range claims {
			steps = append(steps, "activity/"+a.template+"@loan/"+claim)
		}
	}
	if !c.v1 {
		steps = append(steps, "link")
	}
	return steps
}

// keyColumn is the header of the client key.
func (c *leadCampaign) keyColumn() string {
	if c.byMail {
		return "E-mail"
	}
	return "Lead no"
}

// mapping is the campaign as a mapping file.
func (c *leadCampaign) mapping() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: %s\napi: %s\nclient:\n  key: %s\n  existing: %s", c.name, map[bool]string{true: "v1", false: "v2"}[c.v1], c.keyColumn(), c.existing)
	const phone = "{column: Mobile, type: Phone, region: GB}"
	if lookup := map[string]string{"email": "email: E-mail", "phone": "phone: " + phone, "both": "email: E-mail, phone: " + phone,
		"confirm": "email: E-mail, phone: " + phone + ", mode: both"}[c.lookup]; lookup != "" {
		line("  lookup: {%s}", lookup)
	}
	line("  fields: {ref: %s, email: {column: E-mail, type: Email}, phone: %s, born: {column: DOB, type: Date, output: date}}", c.keyColumn(), phone)
	if !c.v1 {
		line(`claims: [{id: loan, key: Agreement no, name: "{%s}/{Agreement no}", when: 'has("Agreement no")'}]`, c.keyColumn())
		line("workflow: {name: Batch, template_identifier: WF-1}")
	}
	if len(c.activities) > 0 {
		line("activities:")
	}
	for _, a := range c.activities {
		switch {
		case a.open:
			line("  - {template: %s, status: Open}", a.template)
		case a.onClaim:
			line(`  - {template: %s, on: loan, attributes: {Reference: {text: "{%s}/{Agreement no}"}, Value: Amount}}`, a.template, c.keyColumn())
		default:
			line("  - {template: %s, attributes: {Reference: %s, Value: DOB}}", a.template, c.keyColumn())
		}
	}
	return b.String()
}

// environments is the campaign's environments file.
func (c *leadCampaign) environments(url string) string {
	if c.local {
		url = strings.Replace(url, "127.0.0.1", "localhost", 1)
	}
	text := fmt.Sprintf("default: uat\nenvironments:\n  uat:\n    base_url: %s\n    case_id: %s\n    limits: {timeout: %s}\n", url, caseID, c.deadline)
	if c.repeatable {
		text += "    repeatable: [link]\n"
	}
	return text
}

var leadHeader = []string{"Lead no", "E-mail", "Mobile", "DOB", "Agreement no", "Amount"}

func (r leadRow) cells() []string {
	return []string{r.who.no, r.who.email, r.who.phone, r.who.born, r.claim, r.who.amount}
}

// sheet is the name of the campaign's sheet.
func (c *leadCampaign) sheet() string {
	if c.plain {
		return "leads.csv"
	}
	return "leads.xlsx"
}

// writeSheet writes the campaign's sheet.
func (c *leadCampaign) writeSheet(path string) error {
	table := [][]string{leadHeader}
	for _, r := range c.rows {
		table = append(table, r.cells())
	}
	if c.plain {
		var b strings.Builder
		if err := csv.NewWriter(&b).WriteAll(table); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(b.String()), 0o600)
	}
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range table {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			return err
		}
	}
	return f.SaveAs(path)
}
