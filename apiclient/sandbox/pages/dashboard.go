package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// perPage is how many clients a page of the list has.
const perPage = 50

// dashboard is the page with the list of clients.
type dashboard struct {
	Path    string // of the list
	Totals  totals
	Last    *batch // nil when nothing was created yet
	Query   string
	Show    string // a filter's name; "" for all
	Filters []filter
	Rows    []row
	Found   int
	Page    int // counted from 1
	Pages   int
}

// totals counts what there is.
type totals struct {
	Clients, Claims, Activities int
	Waiting                     int // clients with an Open activity
	Entered                     int // activities that clients have completed
}

// batch is what one run has brought.
type batch struct {
	By   string
	When time.Time // of its newest thing
	totals
}

// filter is a choice of the list.
type filter struct {
	Name, Label string
	keeps       func(row) bool
}

// row is a client in the list.
type row struct {
	Client
	Name    string
	Email   string // "" for none, or where it is the name
	Current *Step
	Entered int // activities that the client has completed
	last    bool
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	clients := h.store.Clients()
	page := &dashboard{Path: h.dashboard, Last: lastBatch(clients), Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	page.Filters = []filter{
		{"", "All clients", func(row) bool { return true }},
		{"last", "From the last run", func(c row) bool { return c.last }},
		{"waiting", "Waiting for the client", func(c row) bool { return c.Current != nil }},
		{"entered", "With the client's own entries", func(c row) bool { return c.Entered > 0 }},
	}
	chosen := max(0, slices.IndexFunc(page.Filters, func(f filter) bool { return f.Name == r.URL.Query().Get("show") }))
	page.Show = page.Filters[chosen].Name
	words := strings.Fields(strings.ToLower(page.Query))
	for _, c := range slices.Backward(clients) { // the newest first
		entry := newRow(c, page.Last)
		page.Totals.add(entry)
		if page.Filters[chosen].keeps(entry) && c.matches(words) {
			page.Rows = append(page.Rows, entry)
		}
	}
	page.Found = len(page.Rows)
	page.Pages = max(1, (page.Found+perPage-1)/perPage)
	n, _ := strconv.Atoi(r.URL.Query().Get("page")) // 0 when it is missing or no number
	page.Page = min(max(n, 1), page.Pages)
	page.Rows = page.Rows[(page.Page-1)*perPage : min(page.Found, page.Page*perPage)]
	h.render(w, http.StatusOK, "dashboard", page)
}

func newRow(c Client, last *batch) row {
	out := row{Client: c, Name: nameOf(c.Data), Current: c.current(), last: last.brought(c)}
	for _, f := range fieldsOf(c.Data) {
		if strings.EqualFold(f.Name, "email") && f.Value != out.Name {
			out.Email = f.Value
		}
	}
	for _, s := range c.Steps {
		if s.EnteredBy != nil && s.EnteredBy.ID == c.ID {
			out.Entered++
		}
	}
	return out
}

// thing is a client, a claim or an activity that was created.
type thing struct {
	kind    string // client, claim or activity
	by      string
	created time.Time
	placed  bool // by the workflow, so that no run has brought it
}

// things returns the client, the claims that the client administers, and their and
// the client's activities: so a claim of two claimants counts once.
func (c Client) things() []thing {
	all := []thing{{kind: "client", by: c.By, created: c.Created}}
	own := map[string]bool{"": true}
	for _, on := range c.Claims {
		if on.Administrator.ID == c.ID {
			own[on.ID] = true
			all = append(all, thing{"claim", on.By, on.Created, false})
		}
	}
	for _, s := range c.Steps {
		if own[s.ClaimID] {
			all = append(all, thing{"activity", s.By, s.Created, s.Placed})
		}
	}
	return all
}

func (t *totals) add(c row) {
	for _, made := range c.things() {
		t.count(made)
	}
	t.Entered += c.Entered
	if c.Current != nil {
		t.Waiting++
	}
}

func (t *totals) count(made thing) {
	switch made.kind {
	case "client":
		t.Clients++
	case "claim":
		t.Claims++
	case "activity":
		t.Activities++
	}
}

// lastBatch returns what the caller that created the newest thing has brought; nil
// when there is nothing.
func lastBatch(clients []Client) *batch {
	var last *batch
	for _, c := range clients {
		for _, made := range c.things() {
			if !made.placed && (last == nil || !made.created.Before(last.When)) {
				last = &batch{By: made.by, When: made.created}
			}
		}
	}
	for _, c := range clients {
		for _, made := range c.things() {
			if !made.placed && made.by == last.By {
				last.count(made)
			}
		}
	}
	return last
}

// brought reports whether the batch has the client, or something that was created
// for the client.
func (b *batch) brought(c Client) bool {
	return b != nil && slices.ContainsFunc(c.things(), func(made thing) bool { return !made.placed && made.by == b.By })
}

// matches reports whether each word, in lower case, is somewhere in the client's
// data.
func (c Client) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	texts := []string{c.ID}
	for _, f := range fieldsOf(c.Data) {
		texts = append(texts, f.Value)
	}
	for _, on := range c.Claims {
		texts = append(texts, on.ID, on.Name)
	}
	for _, s := range c.Steps {
		texts = append(texts, s.ID, s.Template)
		for _, a := range s.Attributes {
			texts = append(texts, shownValue(a))
		}
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) })
}

// Link returns the address of a page of the list, with the same search.
func (d *dashboard) Link(page int) string {
	query := url.Values{}
	for name, value := range map[string]string{"q": d.Query, "show": d.Show} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	if len(query) == 0 {
		return d.Path
	}
	return d.Path + "?" + query.Encode()
}

// Previous and Next return the addresses of the pages beside; "" for none.
func (d *dashboard) Previous() string {
	if d.Page == 1 {
		return ""
	}
	return d.Link(d.Page - 1)
}

func (d *dashboard) Next() string {
	if d.Page == d.Pages {
		return ""
	}
	return d.Link(d.Page + 1)
}

// file is the page of one client.
type file struct {
	row
	Path   string // of the list
	Fields []field
}

func (h *Handler) client(w http.ResponseWriter, r *http.Request) {
	c, ok := h.store.Client(r.PathValue("id"))
	if !ok {
		h.render(w, http.StatusNotFound, "message", message{"There is no such client", "The sandbox holds other data now. Go back to the list."})
		return
	}
	h.render(w, http.StatusOK, "client", file{row: newRow(c, nil), Path: h.dashboard, Fields: fieldsOf(c.Data)})
}

// On returns the steps of a claim, or with "" those of the client.
func (f file) On(claimID string) []Step {
	var steps []Step
	for _, s := range f.Steps {
		if s.ClaimID == claimID {
			steps = append(steps, s)
		}
	}
	return steps
}
