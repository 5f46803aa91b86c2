package apiclient

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// DataTypes are our names of the document's attribute data types, in its order.
var DataTypes = []string{"Text", "TextArea", "DropDown", "Checkbox", "Date", "DateTime", "Number", "Currency"}

// meanings of a Rule.
var ruleMeanings = []string{"retry", "failed", "done", "stop", "uncertain"}

// check lists everything that is wrong with a Config.
func check(cfg Config) problem.List {
	var list problem.List
	add := func(p problem.Problem) { list = append(list, p) }
	if _, err := NormaliseBaseURL(cfg.BaseURL); err != nil {
		add(problem.New("base-url", "%v", err))
	}
	switch cfg.Version {
	case V1:
		if err := checkSegment(cfg.CaseID); err != nil {
			add(problem.New("case-id", "the case id %v", err).Hinted("v1 needs the case_id of the environment"))
		}
	case V2:
	default:
		add(problem.New("version", "the version must be v1 or v2, not %q", cfg.Version))
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Headers)) {
		if slices.Contains(replayHeaders, http.CanonicalHeaderKey(name)) {
			add(problem.New("header", "the header %s is refused: it makes the network library send a request twice", name).
				Hinted("leave it out; X-Request-Id is sent with every request"))
		}
	}
	if cfg.Timeout < 0 {
		add(problem.New("timeout", "the timeout must not be negative"))
	}
	if r := cfg.RequestsPerSecond; r < 0 || math.IsNaN(r) || math.IsInf(r, 0) {
		add(problem.New("rate", "the requests per second must be a number of at least 0; 0 means no ceiling"))
	}
	for _, k := range cfg.Repeatable {
		if !slices.Contains([]Kind{CreateClient, CreateClaim, CreateActivity, CreateLink}, k) {
			add(problem.New("repeatable", "%q is no kind of step: client, claim, activity or link was expected", k))
		}
	}
	list = append(list, checkWire(cfg.Wire)...)
	for i, content := range cfg.NotFound.Content {
		if err := CheckIDPlace(content.Place); err != nil {
			add(problem.New("pointer", "not_found[%d]: %v", i, err))
		}
		if (content.Equals == nil) != content.Empty || content.Equals != nil && !json.Valid(content.Equals) {
			add(problem.New("not-found", "not_found[%d] needs either a JSON value that is equal or empty", i))
		}
	}
	return append(list, checkRules(cfg.Rules)...)
}

func checkWire(w Wire) problem.List {
	var list problem.List
	wrong := map[string]error{
		"client_id": CheckIDPlace(w.ClientID), "contact_id": CheckIDPlace(w.ContactID), "claim_id": CheckIDPlace(w.ClaimID),
		"activity_id": CheckIDPlace(w.ActivityID), "redirect_url": CheckURLPlace(w.RedirectURL), "data_type": CheckPointer(w.DataType),
	}
	for key, place := range map[string]*string{"lookup_client_id": w.LookupClientID, "lookup_contact_id": w.LookupContactID} {
		if place != nil {
			wrong[key] = CheckIDPlace(*place)
		}
	}
	for field, pointer := range w.LookupAgree {
		wrong["lookup_agree."+field] = CheckPointer(pointer)
	}
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		if err := wrong[key]; err != nil {
			list = append(list, problem.New("pointer", "wire.%s: %v", key, err))
		}
	}
	for _, theirs := range slices.Sorted(maps.Keys(w.DataTypes)) {
		if ours := w.DataTypes[theirs]; !slices.Contains(DataTypes, ours) {
			list = append(list, problem.New("data-type", "wire.data_types: %q is no data type of the service; %s were expected",
				ours, strings.Join(DataTypes, ", ")))
		}
	}
	if len(w.LinkBody) > 0 && !json.Valid(w.LinkBody) {
		list = append(list, problem.New("link-body", "wire.link_body is not JSON"))
	}
	return list
}

func checkRules(rules []Rule) problem.List {
	var list problem.List
	for i, r := range rules {
		if r.Status != 0 && (r.Status < 100 || r.Status > 599) {
			list = append(list, problem.New("rule", "errors[%d]: %d is no HTTP status", i, r.Status))
		}
		if err := CheckPointer(r.Pointer); err != nil {
			list = append(list, problem.New("pointer", "errors[%d]: %v", i, err))
		}
		if _, err := regexp.Compile(r.Matches); err != nil {
			list = append(list, problem.New("rule", "errors[%d]: %v", i, err))
		}
		if !slices.Contains(ruleMeanings, r.Means) {
			list = append(list, problem.New("rule", "errors[%d]: means is %q; %s was expected", i, r.Means,
				strings.Join(ruleMeanings, ", ")))
		}
	}
	return list
}
