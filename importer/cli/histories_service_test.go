package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/xuri/excelize/v2"
)

// thing is what the service of a history has created.
type thing struct {
	kind     string // client, claim, activity, link
	id       string // of a link: its url
	url      string // of a version 1 client
	key      string // the client key that it was sent for; "" where the payload has none, or for somebody else's client
	claim    string // the claim key, of a claim and an activity on one
	template string // of an activity
	on       *thing // the client, or an activity's claim
	email    string
	phone    string
	run      int       // the command during which it was asked for
	due      time.Time // when it exists
	answered bool      // the whole answer was sent, was the right one, and whoever asked lived to read it
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
	if t.kind == "link" || t.kind == "activity" && t.on.kind == "client" {
		return fmt.Sprintf("%s of %s %s", t.kind, t.client().id, t.template)
	}
	if t.kind == "activity" {
		return fmt.Sprintf("%s of %s %s", t.kind, t.on.id, t.template)
	}
	return t.kind + " " + t.key + " " + t.claim
}

// mishap is what goes wrong with a creating call.
type mishap string

const (
	noMishap     mishap = ""
	cutBefore    mishap = "closed before anything was created"
	cutAfter     mishap = "created then closed"
	brokenAfter  mishap = "created then 500"
	brokenBefore mishap = "500"
	answeredLate mishap = "created and answered too late"
	tooMany      mishap = "429"
	overtaken    mishap = "429 while somebody else creates the client"
	refusedOnce  mishap = "400"
	slowly       mishap = "500 and created a moment later"
	accepted     mishap = "202"
	acceptedSlow mishap = "202 and created a moment later"
	halfAnswer   mishap = "half of the answer"
	nameless     mishap = "no id in the answer"
	repeatedID   mishap = "the id of something else in the answer"
)

// definite are the mishaps after which it is certain that nothing was created.
var definite = []mishap{noMishap, tooMany, overtaken, refusedOnce}

// slowness is how long a slow creation takes; belief is how old an ambiguous attempt must be before a look-up that
// finds nobody is believed.
const (
	slowness = 100 * time.Millisecond
	belief   = 150 * time.Millisecond
)

// sent is a creating call.
type creation struct {
	run  int
	step string // kind and keys
	went mishap
}

// intakeWorld is a service written for the histories alone.
type intakeWorld struct {
	*httptest.Server
	templates []string // names; the id is "t-" and the name
	mu        sync.Mutex
	things    []*thing
	run       int
	calls     []creation
	lookups   []string                                           // of the run
	odd       []string                                           // calls that are not as the document says, or name two people
	plan      func(step string, attempt int, kind string) mishap // nil: all goes well
	attempts  map[string]int
	onPost    func(n int) (before, after func()) // of the run; nil for none
	posts     int                                // of the run
	busy      sync.WaitGroup
	connections
	before int // connections that there were when the run began
}

func newIntakeWorld() *intakeWorld {
	w := &intakeWorld{attempts: map[string]int{}}
	w.Server = httptest.NewUnstartedServer(w)
	w.Config.ConnState = w.note
	w.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.Start()
	return w
}

// begin is the start of a command.
func (w *intakeWorld) begin(plan func(step string, attempt int, kind string) mishap, onPost func(n int) (before, after func())) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run++
	w.before = w.seen()
	w.plan, w.onPost, w.posts, w.lookups = plan, onPost, 0, nil
	return w.run
}

// rest lets everything come into being that is under way.
func (w *intakeWorld) rest() {
	w.busy.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.things {
		t.due = time.Time{}
	}
}

func (w *intakeWorld) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.busy.Add(1)
	defer w.busy.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil { // whoever was sending it is gone
		panic(http.ErrAbortHandler)
	}
	parts := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	v1 := len(parts) > 3 && parts[1] == "v1"
	rest := parts[2:]
	if v1 {
		rest = parts[4:]
	}
	if r.Method == http.MethodGet {
		w.get(rw, rest, v1)
		return
	}
	w.post(rw, r, rest, body, v1)
}

func reply(rw http.ResponseWriter, status int, value any) {
	data, _ := json.Marshal(value)
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = rw.Write(data)
}

// get is the reference data, or a look-up.
func (w *intakeWorld) get(rw http.ResponseWriter, rest []string, v1 bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest[0] == "activity-templates" {
		list := []any{}
		for _, name := range w.templates {
			list = append(list, map[string]any{"id": "t-" + name, "name": name, "activityAttributeTemplates": []any{
				map[string]any{"id": "ref-" + name, "name": "Reference", "dataType": "Text"},
				map[string]any{"id": "val-" + name, "name": "Value", "dataType": "Text"},
			}})
		}
		reply(rw, 200, list)
		return
	}
	w.lookups = append(w.lookups, rest[1]+" "+rest[2])
	if found := w.find(rest[1], rest[2]); found != nil {
		reply(rw, 200, map[string]any{map[bool]string{true: "clientId", false: "contactId"}[v1]: found.id})
		return
	}
	reply(rw, 404, map[string]any{"message": "nobody"})
}

// find is a look-up: the first client of an address.
func (w *intakeWorld) find(by, value string) *thing {
	for _, t := range w.things {
		if t.kind == "client" && !t.due.After(time.Now()) &&
			(by == "by-email" && t.email != "" && strings.EqualFold(t.email, value) || by == "by-phone" && t.phone != "" && digits(t.phone) == digits(value)) {
			return t
		}
	}
	return nil
}

// digits are those of a phone number, in the national form of +44.
func digits(phone string) string {
	kept := strings.Map(func(r rune) rune {
		if r == '+' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, phone)
	if national, ok := strings.CutPrefix(kept, "+44"); ok {
		return "0" + national
	}
	return kept
}

// withID finds a thing that exists.
func (w *intakeWorld) withID(kind, id string) *thing {
	i := slices.IndexFunc(w.things, func(t *thing) bool { return t.kind == kind && t.id == id })
	if i < 0 {
		return nil
	}
	return w.things[i]
}

// asked is what a creating call asks for; the thing is not there yet.
func (w *intakeWorld) asked(rest []string, query url.Values, body []byte, v1 bool) (*thing, error) {
	var p struct {
		Ref, Email, Phone, FirstName             string
		AdministratorID, ClaimName               string
		Claimants                                []string
		TemplateID, ActivityTemplateID, Status   string
		WorkflowName, WorkflowTemplateIdentifier string
		Attributes                               []struct{ TemplateID, ActivityAttributeTemplateID, StringValue string }
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, err
	}
	people := "contacts"
	if v1 {
		people = "clients"
	}
	switch {
	case rest[0] == people && len(rest) == 1:
		if p.Ref == "" {
			return nil, fmt.Errorf("a client for nobody: %s", body)
		}
		return &thing{kind: "client", key: folded(p.Ref), email: p.Email, phone: p.Phone}, nil
	case rest[0] == "claims":
		on := w.withID("client", p.AdministratorID)
		key, claim, ok := strings.Cut(p.ClaimName, "/")
		if on == nil || !ok || len(p.Claimants) != 1 || p.Claimants[0] != p.AdministratorID {
			return nil, fmt.Errorf("a claim of nobody, or of two: %s", body)
		}
		return &thing{kind: "claim", key: folded(key), claim: claim, on: on}, nil
	case rest[0] == people && len(rest) == 3 && rest[2] == "magic-link":
		on := w.withID("client", rest[1])
		if on == nil {
			return nil, fmt.Errorf("a link for nobody: %s", rest[1])
		}
		return &thing{kind: "link", on: on}, nil
	}
	t := &thing{kind: "activity", template: p.TemplateID + p.ActivityTemplateID}
	if v1 {
		t.on = w.withID("client", rest[1])
	} else if t.on = w.withID("client", query.Get("contactId")); t.on == nil {
		t.on = w.withID("claim", query.Get("claimId"))
	}
	if t.on == nil || !slices.Contains(w.templates, strings.TrimPrefix(t.template, "t-")) || (p.Status == "Open") != (len(p.Attributes) == 0) {
		return nil, fmt.Errorf("an activity on nothing, or of no template: %v %v %s", rest, query, body)
	}
	for _, a := range p.Attributes {
		if strings.HasPrefix(a.TemplateID+a.ActivityAttributeTemplateID, "ref-") {
			key, claim, _ := strings.Cut(a.StringValue, "/")
			t.key, t.claim = folded(key), claim
		}
	}
	if t.on.kind == "claim" && t.claim != t.on.claim {
		return nil, fmt.Errorf("an activity of the claim %s on the claim %s", t.claim, t.on.claim)
	}
	return t, nil
}

// folded is a client key as the program compares keys, for keys that are plain.
func folded(key string) string { return strings.ToLower(strings.TrimSpace(key)) }

// post is a creating call.
func (w *intakeWorld) post(rw http.ResponseWriter, r *http.Request, rest []string, body []byte, v1 bool) {
	w.mu.Lock()
	t, err := w.asked(rest, r.URL.Query(), body, v1)
	if err != nil {
		w.odd = append(w.odd, err.Error())
		w.mu.Unlock()
		reply(rw, 400, map[string]any{"message": err.Error()})
		return
	}
	if o := t.client(); o.key != "" && t.key != "" && o.key != t.key {
		w.odd = append(w.odd, fmt.Sprintf("the %s of %s goes to the client of %s", t.kind, t.key, o.key))
	}
	step := t.name()
	w.attempts[step]++
	w.posts++
	went := noMishap
	if w.plan != nil {
		went = w.plan(step, w.attempts[step], t.kind)
	}
	w.calls = append(w.calls, creation{run: w.run, step: step, went: went})
	t.run = w.run
	var before, after func()
	if w.onPost != nil {
		before, after = w.onPost(w.posts)
	}
	w.mu.Unlock()
	if before != nil {
		before()
	}
	w.answer(rw, r, t, went, after, v1)
}

// add creates a thing; mu is held.
func (w *intakeWorld) add(t *thing) {
	n := len(w.things) + 1
	switch t.kind {
	case "client":
		t.id, t.url = fmt.Sprintf("c0000000-0000-4000-8000-%012d", n), fmt.Sprintf("https://claims.example.com/start/%d", n)
	case "claim":
		t.id = fmt.Sprintf("b0000000-0000-4000-8000-%012d", n)
	case "activity":
		t.id = fmt.Sprintf("a0000000-0000-4000-8000-%012d", n)
	case "link":
		t.id = fmt.Sprintf("https://claims.example.com/go/%d", n)
	}
	w.things = append(w.things, t)
}

// somebodyElse adds a client that somebody else creates.
func (w *intakeWorld) somebodyElse(email, phone string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(&thing{kind: "client", email: email, phone: phone})
}

// answer carries a call out, as its mishap has it.
func (w *intakeWorld) answer(rw http.ResponseWriter, r *http.Request, t *thing, went mishap, after func(), v1 bool) {
	if !slices.Contains([]mishap{cutBefore, brokenBefore, tooMany, overtaken, refusedOnce}, went) {
		w.mu.Lock()
		if went == slowly || went == acceptedSlow {
			t.due = time.Now().Add(slowness)
		}
		t.answered = went == noMishap
		w.add(t)
		w.mu.Unlock()
	}
	if after != nil {
		after()
	}
	switch went {
	case cutBefore, cutAfter:
		panic(http.ErrAbortHandler)
	case brokenAfter, brokenBefore, slowly:
		reply(rw, 500, map[string]any{"message": "oops"})
	case answeredLate:
		<-r.Context().Done()
	case overtaken:
		w.somebodyElse(t.email, t.phone)
		fallthrough
	case tooMany:
		rw.Header().Set("Retry-After", "0")
		reply(rw, 429, map[string]any{})
	case refusedOnce:
		reply(rw, 400, map[string]any{"message": "not today"})
	case accepted, acceptedSlow:
		reply(rw, 202, map[string]any{})
	case nameless:
		reply(rw, 201, map[string]any{"status": "ok"})
	case halfAnswer:
		rw.Header().Set("Content-Length", "200")
		rw.WriteHeader(201)
		_, _ = rw.Write([]byte(`{"contactId":"c0`))
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	default:
		reply(rw, 201, w.body(t, went == repeatedID, v1))
	}
}

// body is a whole answer; with another the id is that of something else of the kind, where there is any that the
// program must know.
func (w *intakeWorld) body(t *thing, another, v1 bool) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	show := t
	if another {
		for _, other := range w.things {
			known := other.answered && other.run < t.run || slices.ContainsFunc(w.things, func(on *thing) bool { return on.on == other })
			if other.kind == t.kind && other != t && known {
				show = other
			}
		}
	}
	switch t.kind {
	case "client":
		if v1 {
			return map[string]any{"clientId": show.id, "redirectUrl": show.url}
		}
		return map[string]any{"contactId": show.id}
	case "claim":
		return map[string]any{"claimId": show.id}
	case "link":
		return map[string]any{"redirectUrl": show.id}
	}
	return map[string]any{"status": "created"}
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
