package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// perPage is how many clients a page of the list has.
const perPage = 50

// dashboard is the page with the list of clients.
type dashboard struct {
	Path   string // of the list
	Totals totals
	Query  string
	Rows   []row
	Found  int
	Page   int // counted from 1
	Pages  int
}

// totals counts what there is.
type totals struct {
	Clients, Claims, Activities int
	Waiting                     int // clients with an Open activity
	Entered                     int // activities that clients have completed
}

// row is a client in the list.
type row struct {
	Client
	Name    string
	Email   string // "" for none, or where it is the name
	Current *Step
	Entered int // activities that the client has completed
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	page := &dashboard{Path: h.dashboard, Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	words := strings.Fields(strings.ToLower(page.Query))
	for _, c := range slices.Backward(h.store.Clients()) { // the newest first
		entry := newRow(c)
		page.Totals.add(entry)
		if c.matches(words) {
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

func newRow(c Client) row {
	out := row{Client: c, Name: nameOf(c.Data), Current: c.current()}
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

// add counts a client, the claims that the client administers, and their and the client's
// activities: so a claim of two claimants counts once.
func (t *totals) add(c row) {
	t.Clients++
	t.Entered += c.Entered
	if c.Current != nil {
		t.Waiting++
	}
	own := map[string]bool{"": true}
	for _, on := range c.Claims {
		if on.Administrator.ID == c.ID {
			own[on.ID] = true
			t.Claims++
		}
	}
	for _, s := range c.Steps {
		if own[s.ClaimID] {
			t.Activities++
		}
	}
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
	return d.Path + "?" + url.Values{"q": {d.Query}, "page": {strconv.Itoa(page)}}.Encode()
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
	h.render(w, http.StatusOK, "client", file{row: newRow(c), Path: h.dashboard, Fields: fieldsOf(c.Data)})
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
