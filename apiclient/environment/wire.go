package environment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem/yamltree"
)

var wireKeys = []yamltree.Key[apiclient.Wire]{
	yamltree.To("client_id", "version 1, the id of a created client; default /clientId; "+placeForms,
		idPlace, func(w *apiclient.Wire) *string { return &w.ClientID }),
	yamltree.To("contact_id", "version 2, the id of a created contact; default /contactId",
		idPlace, func(w *apiclient.Wire) *string { return &w.ContactID }),
	yamltree.To("claim_id", "the id of a created claim; default /claimId",
		idPlace, func(w *apiclient.Wire) *string { return &w.ClaimID }),
	yamltree.To("redirect_url", "the url that the client is redirected to; default /redirectUrl; a relative one is resolved against the request's url",
		urlPlace, func(w *apiclient.Wire) *string { return &w.RedirectURL }),
	yamltree.To("activity_id", "the id of a created activity; default \"\": the answer need carry none",
		idPlace, func(w *apiclient.Wire) *string { return &w.ActivityID }),
	yamltree.To("templates", "the array of activity templates in its answer, such as /items; default \"\": the answer is the array",
		optionalPointer, func(w *apiclient.Wire) *string { return &w.Templates }),
	yamltree.To("data_type", "the data type of an attribute template; default /dataType; absent is fine",
		optionalPointer, func(w *apiclient.Wire) *string { return &w.DataType }),
	yamltree.To("data_types", "the service's names of data types and ours: Text, TextArea, DropDown, Checkbox, Date, DateTime, Number or Currency",
		yamltree.Map(yamltree.OneOf("Text", "TextArea", "DropDown", "Checkbox", "Date", "DateTime", "Number", "Currency")),
		func(w *apiclient.Wire) *map[string]string { return &w.DataTypes }),
	yamltree.To("options", "the options of a DropDown's attribute template, a list of texts or of objects with a name; default /options; absent is fine",
		optionalPointer, func(w *apiclient.Wire) *string { return &w.Options }),
	yamltree.To("lookup_client_id", "the client's id in a look-up's answer; default: as client_id",
		idPlace, func(w *apiclient.Wire) *string { w.LookupClientID = new(string); return w.LookupClientID }),
	yamltree.To("lookup_contact_id", "the contact's id in a look-up's answer; default: as contact_id",
		idPlace, func(w *apiclient.Wire) *string { w.LookupContactID = new(string); return w.LookupContactID }),
	yamltree.To("lookup_agree", "client fields, which the mapping must fill, and where a look-up's answer has them; compared before an existing client is reused",
		yamltree.Map(pointer), func(w *apiclient.Wire) *map[string]string { return &w.LookupAgree }),
	yamltree.To("link_body", "the body of the magic-link request; default {}; the word none sends it without a body",
		linkBody, func(w *apiclient.Wire) *[]byte { return &w.LinkBody }),
}

// placeForms says how the place of an id is written.
const placeForms = "a JSON Pointer into the body (\"\": the whole body is a JSON string), text (the whole body as plain text), header:NAME, " +
	"or last-segment: before one of them, for the last segment of the path of the url there"

var (
	idPlace  = place("^(last-segment:)?((/.*)?|text|header:.+)$", checkIDPlace)
	urlPlace = place("^((/.*)?|text|header:.+)$", apiclient.CheckURLPlace)
)

// checkIDPlace says why a place cannot be that of an id; nil for a valid one. No id is
// read from a list of several, so a pointer to a later element than the first would
// leave every step uncertain.
func checkIDPlace(place string) error {
	if err := apiclient.CheckIDPlace(place); err != nil {
		return err
	}
	if _, pointer, ok := strings.Cut(place, "/"); ok && !strings.Contains(place, "header:") {
		for token := range strings.SplitSeq(pointer, "/") {
			if i, err := strconv.Atoi(token); err == nil && i > 0 && strconv.Itoa(i) == token {
				return fmt.Errorf("%d is a later element of a list than the first, and nothing is read here from a list of several; 0 is for a list of one", i)
			}
		}
	}
	return nil
}

// place is where an answer carries an id or a url; check says what is wrong with
// it. "" is the whole body as a JSON string.
func place(pattern string, check func(string) error) yamltree.Value[string] {
	return yamltree.Parsed("a place in an answer such as /data/id or header:Location", yamltree.Schema{"type": "string", "pattern": pattern},
		func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
			err := check(n.Text())
			if err != nil {
				r.Wrong(n, "pointer", "%s must be a JSON Pointer such as /data/id, text, or header:NAME", n.Name()).Hint = err.Error()
			}
			return n.Text(), err == nil
		})
}

// optionalPointer is a JSON Pointer, or "" to switch something off.
var optionalPointer = yamltree.Parsed("a JSON Pointer such as /data/id", yamltree.Schema{"type": "string", "pattern": "^(/.*)?$"},
	func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
		err := apiclient.CheckPointer(n.Text())
		if n.Text() == "" || err == nil {
			return n.Text(), true
		}
		r.Wrong(n, "pointer", "%s must be a JSON Pointer such as /data/id", n.Name()).Hint = err.Error()
		return "", false
	})

var pointer = optionalPointer.Then(func(r *yamltree.Reader, n *yamltree.Node, _ *string) {
	if n.Text() == "" {
		r.Wrong(n, "pointer", "%s must not be empty", n.Name()).Hint = "write a JSON Pointer such as /data/id, or leave the key out"
	}
})

// linkBody is a JSON object in the order of the file; nil for the word none.
var linkBody = yamltree.Value[[]byte]{
	Kinds: yamltree.Objects | yamltree.Scalars, Wants: linkBodyWants,
	Schema: yamltree.Schema{"anyOf": []yamltree.Schema{{"type": "object"}, {"const": "none"}}},
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *[]byte) bool {
		switch {
		case n.IsNull():
			*into = []byte("{}")
		case n.Kind() == yamltree.Objects:
			var b bytes.Buffer
			writeJSON(r, &b, n, 0)
			*into = b.Bytes()
		case n.Text() == "none":
			*into = nil
		default:
			r.Wrong(n, "wrong-kind", "%s must be %s", n.Name(), linkBodyWants)
			return false
		}
		return true
	},
}

const linkBodyWants = yamltree.WantsObject + ", or the word none for a request without a body"

// writeJSON writes a YAML value as JSON.
func writeJSON(r *yamltree.Reader, b *bytes.Buffer, n *yamltree.Node, depth int) {
	const maxDepth = 32
	if depth > maxDepth {
		r.Wrong(n, "too-deep", "%s is nested more than %d levels deep", n.Name(), maxDepth)
		return
	}
	comma := ""
	switch n.Kind() {
	case yamltree.Objects:
		b.WriteByte('{')
		for v := range r.Pairs(n) {
			b.WriteString(comma)
			writeText(b, v.Key())
			b.WriteByte(':')
			writeJSON(r, b, v, depth+1)
			comma = ","
		}
		b.WriteByte('}')
	case yamltree.Lists:
		b.WriteByte('[')
		for item := range r.Items(n) {
			b.WriteString(comma)
			writeJSON(r, b, item, depth+1)
			comma = ","
		}
		b.WriteByte(']')
	default:
		var scalar []byte
		jsonScalar.Read(r, n, &scalar)
		b.Write(scalar)
	}
}

// jsonScalar is a null, a boolean, a number or a text, as JSON writes it.
var jsonScalar = yamltree.Value[[]byte]{
	Kinds: yamltree.Scalars | yamltree.Nulls, Wants: "null, true, false, a number or a text",
	Schema: yamltree.Schema{"type": []string{"null", "boolean", "number", "string"}},
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *[]byte) bool {
		var b bytes.Buffer
		switch n.Tag() {
		case "!!null":
			b.WriteString("null")
		case "!!bool":
			b.WriteString(strings.ToLower(n.Text()))
		case "!!int", "!!float":
			// JSON has no octal, hexadecimal or infinite numbers.
			if !json.Valid([]byte(n.Text())) {
				r.Wrong(n, "wrong-kind", "%s is not a number as JSON writes it", n.Name()).
					Hint = "put it in quotes if a text is meant"
				return false
			}
			b.WriteString(n.Text())
		default:
			writeText(&b, n.Text())
		}
		*into = b.Bytes()
		return true
	},
}

func writeText(b *bytes.Buffer, s string) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	b.Write(text)
}
