package cli_test

import (
	"fmt"
	"hash/crc32"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

// nightCase is a sheet that is run on several nights. Between the nights the sheet, the mapping, the environment or the
// answers of the service change. After every night nothing may be there twice.
type nightCase struct {
	name    string
	long    bool   // only with -long
	mapping string // see newScene; one with a field "ref" names clients by it
	env     string // lines of the environment's entry
	wire    func(*apitest.Wire)
	ways    []string // in which the step sheetNight.doubt ends in doubt; see variants
	orders  bool     // also with the rows of every sheet in the reverse order, and fewer requests in flight
	promise bool     // every night that writes a workbook is held to checkPromise
	nights  []sheetNight
}

// sheetNight is one run. In its texts, <NAME> is the id, or the redirect url, of what the service calls NAME: <client
// L1>, <link L1>, <claim L1/A-1>; <url client L1> is the redirect url of a client of version 1, and <link
// c1@example.com #2> the second that was made.
type sheetNight struct {
	// What changes before the run. What is empty stays as it was the night before.
	input   string   // the sheet's name, leads.xlsx at first; plan and results are named after it
	at      string   // the service's name, "first" at first
	mapping string   //
	env     string   // "-" is no lines
	ripe    bool     // attempts are old enough to believe that they created nothing
	knows   []string // clients that the service gets: key, e-mail address and phone number; or "claim KEY/NAME"
	rows    []string // of the sheet; see cells
	do      []string // commands; see command
	edit    []string // of the results workbook; see edit

	// The run.
	faults  faults // see script
	appears string // the e-mail address of a client that the service knows from the first fault of a POST on
	doubt   string // a step that ends in doubt in the variant's way; nothing else is checked of this night
	dry     bool   // a dry run comes first and must say what the run then does
	rerun   bool   // of the results workbook
	flags   string
	idle    bool // no run

	// What the run must come to.
	code   int
	says   []string // parts of stdout and stderr; see contains
	posts  string   // "client 1, claim 2": the creating requests, by kind; "?" is not checked
	steps  string   // instead, the names of the creating requests in the order of their arrival
	calls  []string // parts of the transcript of the calls; see contains
	status string   // the statuses of the rows, or one of all; "" is not checked
	errors []string // what the column Error says in each row: all of it, or a part after "…"; nil is not checked
	cells  []string // of the workbook; see checkCell
	again  bool     // from now on things may be there twice
	also   func(s *scene, p played)
}

// faults are what goes wrong with the requests of a name, in their order; see script.
type faults map[string][]apitest.Fault

// quiet is a night in which nothing is sent, because everything is done.
var quiet = sheetNight{status: "unchanged"}

func TestNights(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(nightCases, answerCases, restoreCases, deskCases, rerunCases) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.long {
				onlyLong(t)
			}
			for _, v := range c.variants() {
				t.Run(strings.Trim(fmt.Sprint(v), "{ }"), func(t *testing.T) {
					t.Parallel()
					c.run(t, v)
				})
			}
		})
	}
}

// nightRun is a case as it is played.
type nightRun struct {
	*scene
	v        variant
	services map[string]*apitest.Server
	urls     map[string]string
	known    map[string]string // ids of what the service knew before
	again    bool
}

func (c nightCase) run(t *testing.T, v variant) {
	s := newScene(t, c.mapping, nil)
	if c.wire != nil {
		c.wire(&s.service.Wire)
	}
	r := &nightRun{s, v, map[string]*apitest.Server{"first": s.service}, map[string]string{"first": s.url},
		map[string]string{"service first": s.url}, false}
	if strings.Contains(c.mapping, "\n    ref: ") {
		s.service.KeyField = "ref"
	}
	if strings.Contains(c.mapping, "file:broker") {
		write(t, s.path("broker"), s.service.AddClient("broker@example.com", "broker@example.com", "")+"\n")
	}
	s.environment(c.env)
	for i, n := range c.nights {
		if v.reversed {
			n = n.reversed()
		}
		r.change(n)
		if r.again = r.again || n.again; n.doubt != "" {
			v.doubt(s, n.doubt)
		} else if !n.idle {
			if r.play(n); c.promise && n.code != 2 && n.code != 3 {
				s.checkPromise()
			}
		} else if n.also != nil {
			n.also(s, played{})
		}
		for name, service := range r.services {
			for step, made := range service.Created() {
				if len(made) > 1 && !r.again {
					t.Errorf("%s was created %d times by the service %q", step, len(made), name)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("that was night %d", i+1)
		}
	}
}

// play is the run of a night.
func (r *nightRun) play(n sheetNight) {
	r.t.Helper()
	flags := append(strings.Fields(n.flags), r.v.flags()...)
	run, plan := r.run, r.output("plan")
	if n.rerun {
		run, plan = func(flags ...string) played { return r.rerun(append(flags, r.output("results"))...) }, r.output("results.plan")
	}
	r.service.Play(r.script(n))
	var dry played
	if n.dry {
		dry = run(append(slices.Clone(flags), "--dry-run")...)
		r.check(n, dry, plan)
		r.service.Play(r.script(n))
	}
	real := run(flags...)
	r.settleDown()
	r.service.Play(nil)
	if n.dry {
		r.compare(dry, real)
	}
	r.check(n, real, r.output("results"))
	var sent []string
	for _, kind := range []string{"client", "claim", "activity", "link"} {
		if number := real.posts()[kind]; number > 0 {
			sent = append(sent, fmt.Sprint(kind, " ", number))
		}
	}
	got, want := strings.Join(sent, ", "), n.posts
	if n.steps != "" {
		got, want = strings.Join(real.steps(), ", "), n.steps
	}
	if got != want && want != "?" {
		r.t.Errorf("sent %q, want %q\n%s%s", got, want, real.err, transcript(real.calls))
	}
	for _, part := range n.calls {
		if part = shortIDs(r.ids(part)); !contains(transcript(real.calls), part) {
			r.t.Errorf("the calls are not as %q says:\n%s", part, transcript(real.calls))
		}
	}
	if n.also != nil {
		n.also(r.scene, real)
	}
}

// output is the name of the results or the plan.
func (r *nightRun) output(kind string) string {
	return strings.TrimSuffix(r.input, ".xlsx") + "." + kind + ".xlsx"
}

// check compares what a run, or its dry run, says.
func (r *nightRun) check(n sheetNight, p played, file string) {
	r.t.Helper()
	if p.code != n.code {
		r.t.Fatalf("%s: exit code %d, want %d\n%s%s\n%s", file, p.code, n.code, p.out, p.err, transcript(p.calls))
	}
	for _, part := range n.says {
		if part = r.ids(part); !contains(p.out+p.err, part) {
			r.t.Errorf("%s: it is not said as %q says:\n%s%s", file, part, p.out, p.err)
		}
	}
	if n.status == "" && n.errors == nil && n.cells == nil {
		return
	}
	rows := r.workbook(file, "Results")
	status, why := column(rows, "Import status"), column(rows, "Error")
	for i := range rows {
		if status[i] == "planned" {
			status[i] = "done"
		}
		if n.errors != nil {
			want, part := strings.CutPrefix(r.ids(n.errors[min(i, len(n.errors)-1)]), "…")
			if part && !strings.Contains(why[i], want) || !part && why[i] != want {
				r.t.Errorf("%s, row %d: Error: %q, want %q", file, i+1, why[i], want)
			}
		}
	}
	want := strings.Split(n.status, ", ")
	if len(want) == 1 {
		want = slices.Repeat(want, len(rows))
	}
	if diff := cmp.Diff(want, status); n.status != "" && diff != "" {
		r.t.Errorf("%s: statuses (-want +got):\n%s\n%q", file, diff, why)
	}
	for _, want := range n.cells {
		if strings.HasPrefix(want, "step ") && strings.HasSuffix(file, ".plan.xlsx") {
			continue // a plan has no such sheet
		}
		r.checkCell(file, want, rows)
	}
}

// checkCell compares a cell of the sheet Results, which a want names by the number of its row and its column, or the
// state and the id of a line of the sheet Steps, after "step", by client key and step: "2 contactId = <client L1>",
// "step L1 client = uncertain". After "~" comes a part; see contains.
func (r *nightRun) checkCell(file, want string, rows []record) {
	r.t.Helper()
	m := regexp.MustCompile(`^(\S+) (.+?) ([=~]) ?(.*)$`).FindStringSubmatch(r.ids(want))
	var got []string
	if i, err := strconv.Atoi(m[1]); err == nil {
		got = []string{rows[i-1][m[2]]}
	} else {
		for _, line := range r.workbook(file, "Steps") {
			if line["Client key"]+" "+line["Step"] == m[2] {
				got = append(got, strings.TrimSpace(line["State"]+" "+line["Id"]))
			}
		}
	}
	if len(got) != 1 || m[3] == "=" && got[0] != m[4] || m[3] == "~" && !contains(got[0], m[4]) {
		r.t.Errorf("%s: %q, want %s", file, got, want)
	}
}

// contains reports whether a text has a part. After "!" the text must not have it, and after "2×" exactly twice.
func contains(text, part string) bool {
	if not, ok := strings.CutPrefix(part, "!"); ok {
		return !strings.Contains(text, not)
	}
	if times, some, ok := strings.Cut(part, "×"); ok {
		return fmt.Sprint(strings.Count(text, some)) == times
	}
	return strings.Contains(text, part)
}

// reversed is the night with the rows of the sheet in the reverse order.
func (n sheetNight) reversed() sheetNight {
	n.rows, n.errors, n.cells = slices.Clone(n.rows), slices.Clone(n.errors), slices.Clone(n.cells)
	slices.Reverse(n.rows)
	status := strings.Split(n.status, ", ")
	slices.Reverse(status)
	n.status = strings.Join(status, ", ")
	slices.Reverse(n.errors)
	for i, want := range n.cells {
		number, rest, _ := strings.Cut(want, " ")
		if at, err := strconv.Atoi(number); err == nil {
			n.cells[i] = fmt.Sprint(max(len(n.rows), len(status))+1-at, " ", rest)
		}
	}
	return n
}

var idName = regexp.MustCompile(`<(?:url )?(?:client|claim|activity|link|service) [^<>]+>`)

// ids replaces the names of things by their ids.
func (r *nightRun) ids(text string) string {
	return idName.ReplaceAllStringFunc(text, func(name string) string {
		name = name[1 : len(name)-1]
		if id := r.known[name]; id != "" {
			return id
		}
		name, number, _ := strings.Cut(name, " #")
		for _, service := range r.services {
			step, url := strings.CutPrefix(name, "url ")
			made := service.Created()[step]
			if n, _ := strconv.Atoi(number); n > 0 && n <= len(made) {
				made = made[n-1:]
			}
			switch {
			case len(made) == 0:
			case url || made[0].ID == "":
				return made[0].URL
			default:
				return made[0].ID
			}
		}
		r.t.Fatalf("the service has no %q", name)
		return ""
	})
}

// change makes the changes before a night.
func (r *nightRun) change(n sheetNight) {
	r.t.Helper()
	if n.at != "" {
		if r.services[n.at] == nil {
			other := apitest.New(reference...)
			server := httptest.NewServer(other)
			r.t.Cleanup(server.Close)
			r.services[n.at], r.urls[n.at] = other, server.URL
		}
		r.service, r.url = r.services[n.at], r.urls[n.at]
		_, r.seen = r.service.Since(0)
		r.environment(r.entry)
	}
	if n.mapping != "" {
		r.mapping(n.mapping)
	}
	if n.env != "" {
		r.environment(strings.TrimPrefix(n.env, "-"))
	}
	if n.input != "" {
		r.input = n.input
	}
	if n.ripe {
		r.pace.Believable = 1
	}
	for _, what := range n.knows {
		if claim, ok := strings.CutPrefix(what, "claim "); ok {
			key, name, _ := strings.Cut(claim, "/")
			r.known[what] = r.service.AddClaim(r.ids("<client "+key+">"), name)
			continue
		}
		words := append(strings.Fields(what), "")
		r.known["client "+words[0]] = r.service.AddClient(words[0], words[1], words[2])
	}
	if n.rows != nil {
		head, rows := r.cells(n.rows)
		writeSheet(r.t, r.path(r.input), head, rows)
	}
	r.service.Play(r.script(n))
	for _, line := range n.do {
		r.command(line)
	}
	if n.edit != nil {
		editWorkbook(r.t, r.path(r.output("results")), func(f *excelize.File) {
			for _, line := range n.edit {
				r.edit(f, r.ids(line))
			}
		})
	}
	_, r.seen = r.service.Since(r.seen)
}

// edit changes a workbook as a person would: "Amount 4 = 250.25" a cell of the sheet Results, by header and row,
// "c4@example.com link: Settle = give up" one in the line of a client's step. "sort SHEET" puts the first row behind
// the others, "delete SHEET N" removes a row, and "drop COLUMN" a column of Results.
func (r *nightRun) edit(f *excelize.File, line string) {
	r.t.Helper()
	words := strings.Fields(line)
	switch words[0] {
	case "sort", "delete":
		rows, err := f.GetRows(words[1])
		must(r.t, err)
		at := 2
		if words[0] == "sort" {
			must(r.t, f.DuplicateRowTo(words[1], 2, len(rows)+1))
		} else {
			at, err = strconv.Atoi(words[2])
			must(r.t, err)
		}
		must(r.t, f.RemoveRow(words[1], at))
		return
	case "drop":
		must(r.t, f.RemoveCol("Results", strings.TrimRight(cellAt(r.t, f, "Results", strings.TrimPrefix(line, "drop "), 1), "1")))
		return
	}
	place, text, _ := strings.Cut(line, " =")
	var value any
	if text = strings.TrimPrefix(text, " "); text != "" {
		value = text
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		value = n
	}
	if step, header, ok := strings.Cut(place, ": "); ok {
		client, step, _ := strings.Cut(step, " ")
		must(r.t, f.SetCellValue("Steps", stepCell(r.t, f, client, step, header), value))
		return
	}
	at := strings.LastIndex(place, " ")
	row, err := strconv.Atoi(place[at+1:])
	must(r.t, err)
	set(r.t, f, place[:at], row, value)
}

// cells are the rows of a sheet. "2 A-9; Amount=3" is client 2 of lead with agreement A-9, and with other cells, whose
// columns may be new; "1-3" is leads(3). With "|" a row is that of a sheet for the mapping joint.
func (r *nightRun) cells(list []string) (head []any, rows [][]any) {
	head = slices.Clone(header)
	if len(list) > 0 && strings.Contains(list[0], "|") {
		head = []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name", "Contact ID"}
	}
	for _, text := range list {
		text = r.ids(text)
		if strings.Contains(text, "|") {
			var line []any
			for _, cell := range strings.Split(text, "|") {
				line = append(line, strings.ReplaceAll(strings.TrimSpace(cell), "@", "@example.com"))
			}
			rows = append(rows, line)
			continue
		}
		words := strings.Split(text, "; ")
		who, no, one := strings.Cut(words[0], " ")
		if from, to, many := strings.Cut(who, "-"); many && !one {
			first, _ := strconv.Atoi(from)
			last, _ := strconv.Atoi(to)
			rows = append(rows, leads(last)[first-1:]...)
			continue
		}
		number, err := strconv.Atoi(who)
		must(r.t, err)
		row := lead(number, no)
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			if from, to, ok := strings.Cut(word, "→"); ok { // a column has another name
				head[slices.Index(head, any(from))] = to
				continue
			}
			at := slices.Index(head, any(name))
			if at < 0 {
				head, at = append(head, name), len(head)
			}
			for len(row) <= at {
				row = append(row, nil)
			}
			row[at] = value
			if amount, err := strconv.ParseFloat(value, 64); err == nil && name == "Amount" {
				row[at] = amount
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}

// command runs a command with the scene's environments file: its words, in which "·" stands for a space, and after "→"
// its exit code, if that is not 0, and a part of what it says; see contains. "lose ledger" removes the state folder,
// "lose workbook" the results, and "lose FILE" a file of the state folder; "make FILE" makes an empty one; "save NAME"
// keeps a copy of the state folder, and "restore NAME" puts it back. MAPPING is the mapping's file, and DIR the folder.
func (r *nightRun) command(line string) {
	r.t.Helper()
	line, want, _ := strings.Cut(r.ids(strings.NewReplacer("MAPPING", r.path("mapping.yaml"), "DIR", r.dir).Replace(line)), " → ")
	switch verb, what, _ := strings.Cut(line, " "); {
	case line == "lose ledger":
		must(r.t, os.RemoveAll(r.path(".claimsheet")))
		return
	case line == "lose workbook":
		must(r.t, os.Remove(r.path(r.output("results"))))
		return
	case verb == "lose":
		must(r.t, os.Remove(r.path(".claimsheet/"+what)))
		return
	case verb == "make":
		must(r.t, os.MkdirAll(r.path(".claimsheet"), 0o700))
		write(r.t, r.path(".claimsheet/"+what), "")
		return
	case verb == "save":
		must(r.t, os.CopyFS(r.path(what), os.DirFS(r.path(".claimsheet"))))
		return
	case verb == "restore":
		must(r.t, os.RemoveAll(r.path(".claimsheet")))
		must(r.t, os.CopyFS(r.path(".claimsheet"), os.DirFS(r.path(what))))
		must(r.t, os.Chmod(r.path(".claimsheet"), 0o700))
		return
	}
	words := strings.Fields(line)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "·", " ")
	}
	number, part, _ := strings.Cut(want, " ")
	wantCode, err := strconv.Atoi(number)
	if err != nil {
		wantCode, part = 0, want
	}
	p := runAt(r.t.Context(), r.pace, "", slices.Insert(words, 1, "--environments", r.path("environments.yaml"))...)
	if p.code != wantCode || !contains(p.out+p.err, part) {
		r.t.Errorf("%s: exit code %d, want %d with %q\n%s%s", line, p.code, wantCode, part, p.out, p.err)
	}
}

// notFound stands for the service's answer to a look-up that finds no client.
var notFound = apitest.Answer(apitest.Reply{})

// script plays the faults of a night: the first request of a name gets the first fault, and so on; after "every", all
// further requests get the last one. A name is that of a step, a kind of request, a method, "lookup" and an address,
// "lookup not" and a regular expression of addresses, or "with" and a text in the request.
func (r *nightRun) script(n sheetNight) func(apitest.Call) apitest.Fault {
	list := faults{}
	for name, some := range n.faults {
		for _, f := range some {
			if f.Reply != nil {
				reply := *f.Reply
				if reply.Status == 0 {
					reply = r.service.Nobody
				}
				reply.Body = r.ids(reply.Body)
				f.Reply = &reply
			}
			list[name] = append(list[name], f)
		}
	}
	var mu sync.Mutex
	seen := map[string]int{}
	return func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(list)) {
			what, every := strings.CutPrefix(name, "every ")
			if !isAbout(what, c) {
				continue
			}
			at := seen[name]
			if seen[name]++; every {
				at = min(at, len(list[name])-1)
			}
			if at >= len(list[name]) {
				continue
			}
			f := list[name][at]
			if n.appears != "" && c.Method == "POST" && at == 0 {
				f.Then = func() { r.service.AddClient(n.appears, n.appears, "") }
			}
			return f
		}
		return apitest.Fault{}
	}
}

// isAbout reports whether a call has the name that faults has.
func isAbout(name string, c apitest.Call) bool {
	if text, ok := strings.CutPrefix(name, "with "); ok {
		return strings.Contains(c.Path+c.Query+c.Body, text)
	}
	address, _ := url.PathUnescape(path.Base(c.Path))
	if format, ok := strings.CutPrefix(name, "lookup not "); ok {
		return c.Kind == "lookup" && !regexp.MustCompile(format).MatchString(address)
	}
	return name == c.Step || name == c.Kind || name == c.Method || c.Kind == "lookup" && name == "lookup "+address
}

// variant is one combination under which nothing may be created twice.
type variant struct {
	way      string // how a step ended in doubt, see doubt
	reversed bool   // the rows of every sheet, with two requests in flight
}

func (v variant) flags() []string {
	if v.reversed {
		return []string{"--concurrency", "2"}
	}
	return nil
}

// everyWay are the ways in which a step that was created may end in doubt; see variant.doubt.
var everyWay = []string{"answered 500", "late", "killed"}

// variants are those of a case: its ways, with the rows in both orders. Without -long it is one of these, another for each
// case.
func (c nightCase) variants() (all []variant) {
	for _, way := range append(c.ways, "")[:max(1, len(c.ways))] {
		if all = append(all, variant{way, false}); c.orders {
			all = append(all, variant{way, true})
		}
	}
	if !*long {
		n := int(crc32.ChecksumIEEE([]byte(c.name))>>8) % len(all)
		return all[n : n+1]
	}
	return all
}

// doubt runs the program over the scene's sheet and leaves a step in doubt that the service has created: its answer
// says nothing, comes after the program has stopped waiting for it, or meets a killed program. "not created" is an
// answer that says nothing to a request that created nothing. While the program runs, look-ups find nobody.
func (v variant) doubt(s *scene, step string) {
	s.t.Helper()
	if v.way == "killed" {
		s.killWhenMade(step, v.flags()...)
	} else {
		fault, known := map[string]apitest.Fault{"answered 500": created500, "late": apitest.CreateLate(0), "not created": failed500}[v.way]
		if !known {
			s.t.Fatalf("no way of doubt is %q", v.way)
		}
		entry := s.entry
		if v.way == "late" {
			s.environment(entry + "\nlimits: {timeout: 1s}")
		}
		s.inDoubt(step, fault)
		s.mustRun(4, v.flags()...)
		s.environment(entry)
	}
	s.settleDown()
	s.service.Play(nil)
}

// inDoubt plays a fault for the first request of a step, and lets look-ups find nobody.
func (s *scene) inDoubt(step string, f apitest.Fault) {
	once := apitest.Once(onStep(step), f)
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "lookup" {
			return apitest.Answer(s.service.Nobody)
		}
		return once(c)
	})
}

// killWhenMade runs the built program and kills it when the service has created a step and not answered yet.
func (s *scene) killWhenMade(step string, flags ...string) {
	s.t.Helper()
	p := child(programName, s.args(flags...))
	dead := make(chan struct{})
	s.server.CloseClientConnections() // of commands before
	s.inDoubt(step, apitest.Fault{Then: func() {
		p.kill()
		<-dead
	}})
	code, said := p.end(s.t)
	close(dead)
	for s.open.Load() > 0 { // what it has sent is on its way
		time.Sleep(time.Millisecond)
	}
	if code != -1 {
		s.t.Fatalf("exit code %d: it was not killed\n%s", code, said)
	}
	s.since()
}
