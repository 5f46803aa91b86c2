package studio_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/cli/studio"
	"claimsheet/importer/testform"
)

// A second click, made on what the person saw before the first was done, does nothing.
func TestOldVersion(t *testing.T) {
	t.Parallel()
	b := begin(t, mappingText, sheetText, nil)
	b.autumn()
	for path, body := range map[string][]any{"/api/text": {"text", ""}, "/api/history": {"to", 0}, "/api/save": nil, "/api/reload": nil,
		"/api/decide": {"line", 1}, "/api/ignore": {"column", "F", "ignored", true}, "/api/job": {"kind", "dry-run"},
		"/api/patch": {"operations", []any{map[string]any{"op": "remove", "path": "/activities/0"}}}} {
		stale := b.post(path, 409, append(body, "version", 1)...)
		expect(t, path, stale.at("error.code"), "stale")
	}
}

// Asking changes nothing, neither here nor on the disk.
func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	b := begin(t, mappingText, sheetText, func(o *studio.Options) { o.Run = nothing })
	st := b.judged()
	for _, path := range []string{"state", "patch", "decide", "text", "history", "save", "reload", "ignore", "column?letter=A", "rows", "client?row=2", "preview", "diff", "job", "job/cancel", "job/workbook"} {
		for _, method := range []string{"GET", "HEAD"} {
			b.ask(method, "/api/"+path, "")
		}
	}
	for _, part := range []string{"version", "mapping", "judgement", "job"} {
		expect(t, part, b.get("/api/state")[part], st[part])
	}
	b.holds(b.file, mappingText)
	b.left()
}

// A text that a browser gives back keeps the ends of lines of the file; undo leads back
// byte for byte, whatever the file is like.
func TestBytesStay(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"CRLF":              strings.ReplaceAll(mappingText, "\n", "\r\n"),
		"BOM":               "\ufeff" + mappingText,
		"no end":            strings.TrimSuffix(mappingText, "\n"),
		"mixed ends":        strings.Replace(mappingText, "\n", "\r\n", 3),
		"comments":          "#a\n" + strings.ReplaceAll(mappingText, "client:\n", "client:   #b\n#c\n  #d\n") + "  #e\n#f",
		"flow":              "{name: spring, api: v2, client: {key: Lead no, existing: create, fields: {lastName: Surname}}, activities: [{template: Your details, attributes: {Title: Title}}]}",
		"anchors":           strings.Replace(mappingText, "lastName: Surname", "lastName: &x Surname\n    other: *x", 1),
		"scalars":           strings.Replace(mappingText, "lastName: Surname", "lastName: >-\n      Surname\n    folded: |\n      E-mail\n", 1),
		"duplicate keys":    strings.Replace(mappingText, "    lastName: Surname", "    lastName: Surname\n    lastName: Notes\n    email: Notes", 1),
		"tabs":              strings.Replace(mappingText, "name: spring   #", "name:\tspring\t#", 1),
		"tabs where no may": strings.Replace(mappingText, "    lastName", "\tlastName", 1),
		"not UTF-8":         mappingText + "# \xff\n",
		"trailing blanks":   strings.ReplaceAll(mappingText, "\n", "  \n"),
		"documents":         "---\n" + mappingText + "...\n",
	} {
		if short := []string{"CRLF", "BOM", "flow", "not UTF-8"}; !*testform.Long && !slices.Contains(short, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, text, sheetText, nil)
			version := 1
			for _, change := range [][]any{
				{"/api/patch", "label", "x", "operations", []any{op("replace", "/name", "autumn")}},
				{"/api/patch", "label", "x", "operations", []any{op("add", "/client/fields/lastName", map[string]any{"column": "Surname", "required": true})}},
				{"/api/patch", "label", "x", "operations", []any{op("add", "/client/fields/email", "E-mail")}},
				{"/api/patch", "label", "x", "operations", []any{op("remove", "/client/fields/lastName", nil)}},
				{"/api/patch", "label", "x", "operations", []any{op("add", "/activities/template=Your details/attributes/Remarks", "Notes")}},
				{"/api/patch", "label", "x", "operations", []any{op("add", "/sheet/empty/-", "-")}},
				{"/api/ignore", "column", "F", "ignored", true},
				{"/api/patch", "label", "x", "operations", []any{op("add", "/sheet/header_row", 2)}},
				{"/api/text", "text", "name: other\n"},
			} {
				body := map[string]any{"version": version}
				for i := 1; i < len(change); i += 2 {
					body[change[i].(string)] = change[i+1]
				}
				data, _ := json.Marshal(body)
				status, answer := b.ask("POST", change[0].(string), string(data))
				if status != 200 && status != 422 {
					t.Fatalf("%s gets %d: %s", data, status, answer)
				}
				version = int(b.get("/api/state")["version"].(float64))
			}
			b.post("/api/history", 200, "version", version, "to", 0)
			b.post("/api/save", 200, "version", version+1, "overwrite", true)
			b.holds(b.file, text)
		})
	}
	b := begin(t, strings.ReplaceAll(mappingText, "\n", "\r\n"), sheetText, nil)
	b.post("/api/text", 200, "version", 1, "text", mappingText).has(t, "mapping.dirty", false)
	st := b.post("/api/text", 200, "version", 2, "text", mappingText+"# end\n")
	st.has(t, "mapping.text", strings.ReplaceAll(mappingText+"# end\n", "\n", "\r\n"))
}

// A key that is there twice is not changed: nobody could say which is meant.
func TestDuplicateKey(t *testing.T) {
	t.Parallel()
	text := strings.Replace(mappingText, "    lastName", "    email: Notes\n    lastName", 1)
	b := begin(t, text, sheetText, nil)
	refused := b.post("/api/patch", 422, "version", 1, "label", "x", "operations", []any{op("replace", "/client/fields/email", "Surname")})
	refused.has(t, "error.message", `the file cannot be changed in this place: "email" is there twice, in lines 9 and 10`)
	st := b.get("/api/state")
	st.has(t, "mapping.text", text)
	targets := map[any]bool{}
	for _, target := range st.list("targets") {
		if targets[target["path"]] {
			t.Errorf("%s is listed twice", target["path"])
		}
		targets[target["path"]] = true
	}
	b.post("/api/patch", 200, "version", 1, "label", "x", "operations", []any{op("replace", "/client/fields/lastName", "Notes")})
}

// What the page only shows stays as it is when other rules are changed.
func TestOtherRulesStay(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("{email: E-mail}", "{email: E-mail, phone: {column: Notes, region: GB}, mode: either}",
		"lastName: Surname   #", "lastName: {join: [Surname, Notes], with: \" / \"}   #").Replace(mappingText) + "sheet: {fill_down: [Surname]}\n"
	b := begin(t, text, sheetText, nil)
	st := b.judged()
	for path, want := range map[string]any{"/client/lookup/mode": "either", "/sheet/fill_down": []string{"Surname"}} {
		expect(t, path, st.one("targets", "path", path)["rule"], want)
	}
	expect(t, "the columns", st.one("targets", "path", "/client/fields/lastName")["columns"], []string{"C", "F"})
	b.autumn()
	st = b.post("/api/patch", 200, "version", 2, "label", "x", "operations", []any{op("add", "/client/fields/lastName/required", true)})
	st.has(t, "mapping.text", strings.NewReplacer("name: spring", "name: autumn", `with: " / "}`, `with: " / ", required: true}`).Replace(text))
}
