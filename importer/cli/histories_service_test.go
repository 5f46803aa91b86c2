package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/apiclient/apitest"
)

// thing is what the service of a history has created.
type thing struct {
	kind     string // client, claim, activity, link
	id       string // of a link: its url
	url      string // of a version 1 client
	key      string // the client key that it was sent for; "" where the payload has none, or for somebody else's client
	claim    string // the claim key, of a claim and an activity on one
	template string // of an activity
	onID     string // of the client, or an activity's claim
	on       *thing // that one; nil for a client
	email    string
	phone    string
	run      int  // the command during which it was asked for
	answered bool // the whole answer was sent, was the right one, and the process that asked lived to read it
}

// askedFor is what a creating call asks for.
func askedFor(c apitest.Call) *thing {
	var p struct {
		Ref, Email, Phone, AdministratorID, ClaimName, TemplateID, ActivityTemplateID string
		Attributes                                                                    []struct{ TemplateID, ActivityAttributeTemplateID, StringValue string }
	}
	_ = json.Unmarshal([]byte(c.Body), &p) // the service refuses what is no JSON
	query, _ := url.ParseQuery(c.Query)
	path := append(strings.Split(c.Path, "/"), "", "", "", "")
	t := &thing{kind: c.Kind, id: c.Created, email: p.Email, phone: p.Phone, template: p.TemplateID + p.ActivityTemplateID}
	switch c.Kind {
	case "client":
		t.key = p.Ref
	case "claim":
		t.onID = p.AdministratorID
		t.key, t.claim, _ = strings.Cut(p.ClaimName, "/")
	case "link": // /funnel/v2/contacts/ID/magic-link
		t.onID = path[4]
	case "activity": // under version 1 /funnel/v1/cases/CASE/clients/ID/activities
		t.onID = cmp.Or(query.Get("claimId"), query.Get("contactId"), path[6])
		for _, a := range p.Attributes {
			if strings.HasPrefix(a.TemplateID+a.ActivityAttributeTemplateID, "ref-") {
				t.key, t.claim, _ = strings.Cut(a.StringValue, "/")
			}
		}
	}
	t.key = folded(t.key)
	return t
}

// client returns the client to which a thing belongs.
func (t *thing) client() *thing {
	for t.on != nil {
		t = t.on
	}
	return t
}

// owner is the key for which a thing was made, as far as the payloads say.
func (t *thing) owner() string {
	if t.key != "" || t.on == nil {
		return t.key
	}
	return t.client().key
}

// name is what the thing is in the program's own words: the client key and the step.
func (t *thing) name() string {
	if t.kind == "link" || t.kind == "activity" {
		return fmt.Sprintf("%s of %s %s", t.kind, t.onID, t.template)
	}
	return t.kind + " " + t.key + " " + t.claim
}

// number is in which order things were created.
func (t *thing) number() int {
	n, _ := strconv.Atoi(t.id[strings.LastIndex(t.id, "-")+1:])
	return n
}

// folded is a client key as the program compares keys, for keys that are plain.
func folded(key string) string { return strings.ToLower(strings.TrimSpace(key)) }

// What goes wrong with creating calls, where more than a fault of the service belongs to it.
const (
	cutAfter     = "created then closed"
	brokenAfter  = "created then 500"
	answeredLate = "answered too late"
	tooMany      = "429"
	overtaken    = "429 while somebody else creates the client"
	refusedOnce  = "400"
	repeatedID   = "the id of something else in the answer"
)

// mishaps are what goes wrong with creating calls, by name.
var mishaps = map[string]apitest.Fault{
	"":                                   {},
	"closed before anything was created": apitest.DropBefore(),
	cutAfter:                             dropped,
	brokenAfter:                          created500,
	"500":                                failed500,
	"500 and found a moment later":       {Reply: &apitest.Reply{Status: 500, Body: `{}`}, Hidden: slowness},
	"202":                                apitest.CreateThen(apitest.JSON(202, `{}`)),
	"202 and found a moment later":       {Reply: &apitest.Reply{Status: 202, Body: `{}`}, Hidden: slowness},
	"half of the answer":                 apitest.CreateThenCut(),
	"no id in the answer":                apitest.CreateThen(apitest.JSON(201, `{"status":"ok"}`)),
	answeredLate:                         apitest.CreateLate(0),
	tooMany:                              apitest.Busy(429, 0),
	overtaken:                            apitest.Busy(429, 0),
	refusedOnce:                          apitest.Answer(apitest.JSON(400, `{"message":"not today"}`)),
	repeatedID:                           {}, // see answer
}

// maxMishaps are those of which one is chosen, as often as they stand here; see tale.mishaps for the others.
var maxMishaps = []string{"closed before anything was created", cutAfter, brokenAfter, "500", tooMany, refusedOnce, refusedOnce,
	"500 and found a moment later", "202", "202 and found a moment later", "half of the answer", "no id in the answer"}

// definite are the mishaps after which it is certain that nothing was created; "" is no mishap.
var definite = []string{"", tooMany, overtaken, refusedOnce}

// slowness is how long look-ups do not find a client that was created slowly; belief is how old an ambiguous attempt must be
// before a look-up that finds nobody is believed.
const (
	slowness = 100 * time.Millisecond
	belief   = 150 * time.Millisecond
)

// creation is a creating call.
type creation struct {
	run  int
	step string // see thing.name
	went string // a mishap
}

// begin begins a command. plan decides what goes wrong, nil: nothing.
func (h *tale) begin(plan func(step string, attempt int, kind string) string) int {
	h.look()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.command++
	h.plan, h.onPost, h.posts = plan, nil, 0
	return h.command
}

// rest waits until look-ups find everything that is there.
func (h *tale) rest() {
	h.settleDown()
	time.Sleep(time.Until(h.visible))
	h.look()
}

// answer is the script of the service.
func (h *tale) answer(c apitest.Call) (f apitest.Fault) {
	if c.Method == http.MethodGet {
		return f
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	asked, went := askedFor(c), ""
	step := asked.name()
	h.attempts[step]++
	h.posts++
	if h.plan != nil {
		went = h.plan(step, h.attempts[step], c.Kind)
	}
	h.calls[c.Number] = creation{h.command, step, went}
	if f = mishaps[went]; f.Hidden > 0 {
		h.visible = later()
	}
	if went == repeatedID {
		h.note()
		for _, t := range h.things { // the program must know it
			known := t.answered && t.run < h.command || slices.ContainsFunc(h.things, func(on *thing) bool { return on.on == t })
			if t.kind == c.Kind && known {
				f = apitest.CreateThen(apitest.JSON(201, fmt.Sprintf(`{"clientId":%q,"contactId":%[1]q,"claimId":%[1]q,"redirectUrl":%q}`, t.id, cmp.Or(t.url, t.id))))
			}
		}
	}
	var before, after func()
	if h.onPost != nil {
		before, after = h.onPost(h.posts)
	}
	if before != nil {
		before()
	}
	f.Then = func() {
		if after != nil {
			after()
		}
		if went == overtaken {
			h.somebodyElse(asked.email, asked.phone)
		}
	}
	return f
}

// somebodyElse adds a client that somebody else creates.
func (h *tale) somebodyElse(email, phone string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.things = append(h.things, &thing{kind: "client", id: h.service.AddClient("", email, phone), email: email, phone: phone})
}

// look looks at what the service has created.
func (h *tale) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note()
}

// note is look with h.mu held.
func (h *tale) note() {
	calls := h.service.Calls()
	made := h.service.Created() // with all that the calls have created
	for _, c := range calls {
		if c.Created == "" || h.withID(c.Created) != nil {
			continue
		}
		t := askedFor(c)
		t.run, t.answered = h.calls[c.Number].run, h.calls[c.Number].went == ""
		if c.Kind == "client" {
			i := slices.IndexFunc(made[c.Step], func(m apitest.Made) bool { return m.ID == t.id })
			t.url = made[c.Step][i].URL
		}
		h.things = append(h.things, t)
	}
	slices.SortFunc(h.things, func(a, b *thing) int { return a.number() - b.number() })
	for _, t := range h.things {
		t.on = h.withID(t.onID)
	}
}

// withID returns the thing with an id; nil for none.
func (h *tale) withID(id string) *thing {
	i := slices.IndexFunc(h.things, func(t *thing) bool { return t.id == id })
	if i < 0 {
		return nil
	}
	return h.things[i]
}

// find returns the first client of an e-mail address, or of a phone number in its international form; nil for none.
func (h *tale) find(email, phone string) *thing {
	i := slices.IndexFunc(h.things, func(t *thing) bool {
		return t.kind == "client" && (email != "" && strings.EqualFold(t.email, email) || phone != "" && t.phone == phone)
	})
	if i < 0 {
		return nil
	}
	return h.things[i]
}

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

// international is the phone number as it is sent.
func (p *person) international() string { return "+44" + strings.ReplaceAll(p.phone[1:], " ", "") }

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

// environment is the campaign's lines of the environment's entry.
func (c *leadCampaign) environment() string {
	entry := "limits: {timeout: " + c.deadline + "}"
	if c.repeatable {
		entry += "\nrepeatable: [link]"
	}
	return entry
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
