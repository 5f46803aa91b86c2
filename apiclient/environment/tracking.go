package environment

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"claimsheet/apiclient/tracking"
	"claimsheet/mapping/problem/yamltree"
)

// Tracking is the tracking section: how the service says what clients have
// completed. The service document shows nothing of it (section "Events"), so there are
// no defaults for what is in an event.
type Tracking struct {
	Export    *tracking.Format   // where exports have events; nil: none
	Completed tracking.Completed // which events say that a client has completed an activity

	webhook *webhookSettings // nil: none
}

// webhookSettings are where webhooks arrive, and how they prove where they come from.
type webhookSettings struct {
	path   string
	header string    // the header with the proof
	token  reference // what it carries, or:
	secret reference // the key of the signature that it carries
	format tracking.Format
}

func trackingKeys(k *yamltree.Keys, t *Tracking) {
	yamltree.ToNew(k, "webhook", &t.webhook, yamltree.Object(webhookKeys).Then(checkWebhook),
		"how the service posts events to claimsheet listen")
	yamltree.ToNew(k, "export", &t.Export, yamltree.Object(eventKeys).Then(checkFormat),
		"where events are in an export, for claimsheet track --import")
	yamltree.To(k, "completed", &t.Completed, yamltree.Object(completedKeys).Then(checkCompleted),
		"which events say that the client has completed an activity").Required()
}

func completedKeys(k *yamltree.Keys, c *tracking.Completed) {
	yamltree.To(k, "kinds", &c.Kinds, yamltree.OneOrMore(yamltree.Text), "events of one of these kinds")
	yamltree.To(k, "statuses", &c.Statuses, yamltree.OneOrMore(yamltree.Text), "events with one of these statuses; with kinds, both must hold")
}

func webhookKeys(k *yamltree.Keys, w *webhookSettings) {
	yamltree.To(k, "path", &w.path, urlPath, "the path of the url that the service posts to; default /")
	yamltree.To(k, "header", &w.header, authHeader, "the header that carries the token, or the signature").Required()
	yamltree.To(k, "token", &w.token, secretReference, "the text that the header carries; "+referenceForms)
	yamltree.To(k, "secret", &w.secret, secretReference,
		"in place of a token, the key of a signature, the body's HMAC with SHA-256, hexadecimal or base64; "+referenceForms)
	eventKeys(k, &w.format)
}

// eventKeys are the keys that say where an event's parts are.
func eventKeys(k *yamltree.Keys, f *tracking.Format) {
	yamltree.To(k, "events", &f.Events, pointer, "a JSON Pointer to the array of events; default: the document is one event, or an array")
	yamltree.To(k, "id", &f.ID, pointer, "the event's own id; default: two events that say the same are one")
	yamltree.To(k, "kind", &f.Kind, pointer, "the kind of event")
	yamltree.To(k, "status", &f.Status, pointer, "the status of the activity")
	yamltree.To(k, "client_id", &f.Client, pointer, "the id of the client or contact")
	yamltree.To(k, "claim_id", &f.Claim, pointer, "the id of the claim")
	yamltree.To(k, "activity_id", &f.Activity, pointer, "the id of the activity, as wire.activity_id has it")
	yamltree.To(k, "activity", &f.Template, pointer, "the name of the activity, to find it without an id")
	yamltree.To(k, "time", &f.At, pointer,
		"when it happened, as RFC 3339 or a number of seconds or milliseconds since 1970; default: when it was received")
}

// urlPath is the path of a url, without query.
var urlPath = matching("path", "a path such as /claimsheet", yamltree.Schema{"type": "string", "pattern": "^/[A-Za-z0-9._~/-]*$"},
	"^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*/?)?$", "a path such as /claimsheet", "it begins with a slash, and has letters, digits, and - . _ ~ only")

func checkFormat(r *yamltree.Reader, n *yamltree.Node, f *tracking.Format) {
	if n.Given("client_id") == nil && n.Given("claim_id") == nil && n.Given("activity_id") == nil {
		r.Wrong(n, "missing-key", "%s needs at least one of “client_id”, “claim_id” and “activity_id”: an event belongs to what it names", n.Name())
	}
}

func checkCompleted(r *yamltree.Reader, n *yamltree.Node, c *tracking.Completed) {
	if n.Given("kinds") == nil && n.Given("statuses") == nil {
		r.Wrong(n, "missing-key", "%s needs “kinds”, “statuses”, or both",
			n.Name()).Hint = "list the words of the events which say that the client has completed an activity"
	}
}

func checkWebhook(r *yamltree.Reader, n *yamltree.Node, w *webhookSettings) {
	if (n.Given("token") == nil) == (n.Given("secret") == nil) {
		r.Wrong(n, "auth-key", "%s needs either “token” or “secret”, not both", n.Name()).
			Hint = "without a proof anybody who finds the url could report completions: give a token that the header carries, or the secret of a signature"
	}
	checkFormat(r, n, &w.format)
}

// Tracks reports whether the environment says how the service reports completions.
func (e *Environment) Tracks() bool { return e.Tracking.webhook != nil || e.Tracking.Export != nil }

// Webhook fetches the webhook's secret and returns its handler, without Keep and
// Log. nil means that the environment has none. The error joins problems.
func (e *Environment) Webhook(ctx context.Context) (*tracking.Webhook, error) {
	w := e.Tracking.webhook
	if w == nil {
		return nil, nil
	}
	r, kept := e.resolver(ctx), w.token
	if kept.name == "" {
		kept = w.secret
	}
	proof := r.secret(kept)
	h := &tracking.Webhook{Path: cmp.Or(w.path, "/"), Format: w.format, Authentic: func(r *http.Request, _ []byte) bool {
		return equal(sent(r, w.header), proof.Reveal())
	}}
	if w.token.name == "" {
		h.Authentic = func(r *http.Request, body []byte) bool {
			mac := hmac.New(sha256.New, []byte(proof.Reveal()))
			mac.Write(body)
			got, want := strings.TrimPrefix(sent(r, w.header), "sha256="), mac.Sum(nil)
			return equal(strings.ToLower(got), hex.EncodeToString(want)) || equal(got, base64.StdEncoding.EncodeToString(want))
		}
	}
	return h, r.done()
}
