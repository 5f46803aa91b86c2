package pages

import (
	"net/http"
	"strings"
)

// Faults are the faults on purpose, which a page of the dashboard switches on and off.
// Its methods are safe for concurrent use.
type Faults interface {
	// Rules returns all rules that were ever on, in the order in which they came.
	Rules() []FaultRule
	// Switch turns a rule on or off. One that is new is added. The text of an error is shown.
	Switch(rule string, on bool) error
	// Targets are the requests that a rule may be about, and Kinds what may go wrong.
	Targets() []string
	Kinds() []FaultKind
}

// FaultRule is a rule with what it has done so far.
type FaultRule struct {
	Rule    string
	On      bool
	Matched int // requests that it is about
	Played  int // those that it hit
}

// FaultKind is a kind of fault.
type FaultKind struct{ Word, About string }

// faultsPage is the page that switches faults.
type faultsPage struct {
	Path, List          string // of the page, and of the dashboard
	Rules               []FaultRule
	Targets             []string
	Kinds               []FaultKind
	Target, Share, Kind string // what the form has
	Error               string
}

// FaultsPath returns the path of the page that switches faults.
func (h *Handler) FaultsPath() string { return h.dashboard + "/faults" }

// SwitchFaults adds the page that switches faults. It is called before the first request.
func (h *Handler) SwitchFaults(f Faults) {
	h.faults = f
	h.mux.HandleFunc("GET "+h.FaultsPath(), h.showFaults)
	h.mux.HandleFunc("POST "+h.FaultsPath(), h.switchFault)
}

func (h *Handler) newFaultsPage() *faultsPage {
	return &faultsPage{Path: h.FaultsPath(), List: h.dashboard, Rules: h.faults.Rules(), Targets: h.faults.Targets(), Kinds: h.faults.Kinds(), Share: "5%"}
}

func (h *Handler) showFaults(w http.ResponseWriter, _ *http.Request) {
	h.render(w, http.StatusOK, "faults", h.newFaultsPage())
}

// switchFault switches the rule of a button, or adds that of the form.
func (h *Handler) switchFault(w http.ResponseWriter, r *http.Request) {
	if !fromThisSite(r) {
		h.render(w, http.StatusForbidden, "message", message{"Nothing was switched", "The form came from another site. Open the dashboard again and switch the fault there."})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		h.render(w, http.StatusBadRequest, "message", message{"Nothing was switched", "The form is too large or incomplete."})
		return
	}
	field := func(name string) string {
		return strings.TrimSpace(strings.ToValidUTF8(r.PostForm.Get(name), "\ufffd"))
	}
	rule, on := field("off"), false
	if rule == "" {
		rule, on = field("on"), true
	}
	if rule == "" {
		rule = field("target") + ":" + field("share") + ":" + field("kind")
	}
	if err := h.faults.Switch(rule, on); err != nil {
		page := h.newFaultsPage()
		page.Error, page.Target, page.Share, page.Kind = err.Error(), field("target"), field("share"), field("kind")
		h.render(w, http.StatusUnprocessableEntity, "faults", page)
		return
	}
	http.Redirect(w, r, h.FaultsPath(), http.StatusSeeOther)
}
