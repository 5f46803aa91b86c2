package apiclient_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
)

func TestTemplates(t *testing.T) {
	got, notes, err := against(t, answers(200, asJSON, `[
		{"id":"t1","name":"Your details","extra":1,"activityAttributeTemplates":[
			{"id":"a1","name":"Born","dataType":"datetime"},
			{"id":"a2","name":"Consent","dataType":3},
			{"id":"a3","name":"Notes","dataType":"text"},
			{"id":"a4","name":"Plain","dataType":"Text"},
			{"id":"a5","name":"Rich","dataType":"text_area"},
			{"id":"a6","name":"Rich too","dataType":"text_area"},
			{"id":"a7","name":"None"},
			{"id":"a8","name":"Null","dataType":null},
			{"id":"a9","name":"Lender","dataType":"DropDown","options":["Lloyds",{"id":3,"name":"Barclays"}," ",7,{}]},
			{"id":"b1","name":"Odd","options":{"a":"b"}}]},
		{"id":2,"name":"Sign","activityAttributeTemplates":null},
		{"id":"t3","name":"Review"}]`), func(cfg *apiclient.Config) {
		cfg.Wire.DataTypes = map[string]string{"3": "Checkbox", "text": "TextArea"}
	}).Templates(t.Context())
	want := []apiclient.Template{
		{ID: "t1", Name: "Your details", Attributes: []apiclient.AttributeTemplate{
			{ID: "a1", Name: "Born", DataType: "DateTime"},
			{ID: "a2", Name: "Consent", DataType: "Checkbox"},
			{ID: "a3", Name: "Notes", DataType: "TextArea"},
			{ID: "a4", Name: "Plain", DataType: "Text"},
			{ID: "a5", Name: "Rich"}, {ID: "a6", Name: "Rich too"}, {ID: "a7", Name: "None"}, {ID: "a8", Name: "Null"},
			{ID: "a9", Name: "Lender", DataType: "DropDown", Options: []string{"Lloyds", "Barclays"}}, {ID: "b1", Name: "Odd"}}},
		{ID: "2", Name: "Sign"},
		{ID: "t3", Name: "Review"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v; -want +got:\n%s", err, diff)
	}
	wantNotes := []string{`the data type "text_area" of "Your details/Rich" is not known and is ignored: set wire.data_types`}
	equal(t, "notes", wantNotes, notes)
}

// TestOptionsElsewhere: the options of a DropDown are read where the environment says that they are.
func TestOptionsElsewhere(t *testing.T) {
	for place, want := range map[string][]string{"/options": {"A"}, "/dropDown/values": {"B", "C"}, "": nil, "/none": nil} {
		cfg := config(apiclient.V2)
		cfg.Wire.Options = place
		cfg.Transport = apiclient.InProcess(answers(200, asJSON,
			`[{"id":"t","name":"T","activityAttributeTemplates":[{"id":"a","name":"A","options":["A"],"dropDown":{"values":["B",{"name":"C"}]}}]}]`))
		got, _, err := client(t, cfg).Templates(t.Context())
		if err != nil || !slices.Equal(got[0].Attributes[0].Options, want) {
			t.Errorf("%q: %v, %v; want %q", place, got, err, want)
		}
	}
}

// TestTemplatesElsewhere: templates in a field are read there, and pages of them are refused.
func TestTemplatesElsewhere(t *testing.T) {
	const one = `{"id":"a","name":"A"}`
	for name, c := range map[string]struct{ place, header, body, want string }{
		"in a field":             {"/items", "", `{"items":[` + one + `],"next":null,"total":1}`, ""},
		"deeper":                 {"/data/list", "", `{"data":{"list":[` + one + `]}}`, ""},
		"where nothing says so":  {"", "", `{"items":[` + one + `]}`, `set wire.templates in the environment to "/items"`},
		"at another place":       {"/list", "", `{"items":[` + one + `]}`, `no array at /list: the templates are at /items`},
		"a link to another page": {"", `</x?page=1>; rel="prev", </x?page=3>; rel="next"`, `[` + one + `]`, `is one page of several (Link: rel="next")`},
		"a link back":            {"", `</x?page=1>; rel="prev"`, `[` + one + `]`, ""},
		"a total":                {"/items", "", `{"page":{"totalElements":30},"items":[` + one + `]}`, "1 of 30 came"},
		"a next page":            {"/items", "", `{"nextPage":"/x?page=2","items":[` + one + `]}`, "its field nextPage"},
		"links":                  {"/items", "", `{"_links":{"next":{"href":"/x"}},"items":[` + one + `]}`, "its field next"},
	} {
		templates, _, err := against(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", c.header)
			answers(200, asJSON, c.body)(w, r)
		}, func(cfg *apiclient.Config) { cfg.Wire.Templates = c.place }).Templates(t.Context())
		if c.want == "" && (err != nil || len(templates) != 1) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, %v; want %q", name, templates, err, c.want)
		}
	}
}

func TestTemplatesAreParsedStrictly(t *testing.T) {
	for body, want := range map[string]string{
		``:                                 "is not JSON: check base_url",
		`<html>`:                           "is a web page, not JSON: check base_url",
		`{"items":[]}`:                     "is an object, not an array",
		`null`:                             "is null, not an array",
		`[1]`:                              "at /0 a number instead of a template",
		`[{"id":"a","name":"A"},null]`:     "at /1 null instead of a template",
		`[{"name":"A"}]`:                   "at /0 a template that has no value at /id",
		`[{"id":"a","id":"b","name":"A"}]`: "several values at /id",
		`[{"id":"a","name":" "}]`:          "at /0 a template that has no text at /name",
		`[{"id":"a","name":"A","activityAttributeTemplates":{}}]`:                    "is not one array",
		`[{"id":"a","name":"A","activityAttributeTemplates":[{"id":"x"}]}]`:          "at /0 activityAttributeTemplates/0 a template that has no value at /name",
		`[{"id":"a","name":"A","activityAttributeTemplates":[{"id":"","name":""}]}]`: "has an id that is empty at /id",
	} {
		_, _, err := against(t, answers(200, "", body)).Templates(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error with %q", body, err, want)
		}
	}
}
