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

var trackingKeys = []yamltree.Key[Tracking]{
	yamltree.To("webhook", "how the service posts events to claimsheet listen",
		pointerTo(yamltree.Object(webhookKeys).Then(checkWebhook)), func(t *Tracking) **webhookSettings { return &t.webhook }),
	yamltree.To("export", "where events are in an export, for claimsheet track --import",
		pointerTo(yamltree.Object(eventKeys(func(f *tracking.Format) *tracking.Format { return f })).Then(checkFormat)),
		func(t *Tracking) **tracking.Format { return &t.Export }),
	yamltree.To("completed", "which events say that the client has completed an activity",
		yamltree.Object(completedKeys).Then(checkCompleted), func(t *Tracking) *tracking.Completed { return &t.Completed }).Required(),
}

var completedKeys = []yamltree.Key[tracking.Completed]{
	yamltree.To("kinds", "events of one of these kinds", yamltree.OneOrMore(yamltree.Text), func(c *tracking.Completed) *[]string { return &c.Kinds }),
	yamltree.To("statuses", "events with one of these statuses; with kinds, both must hold",
		yamltree.OneOrMore(yamltree.Text), func(c *tracking.Completed) *[]string { return &c.Statuses }),
}

var webhookKeys = append([]yamltree.Key[webhookSettings]{
	yamltree.To("path", "the path of the url that the service posts to; default /", urlPath, func(w *webhookSettings) *string { return &w.path }),
	yamltree.To("header", "the header that carries the token, or the signature",
		authHeader, func(w *webhookSettings) *string { return &w.header }).Required(),
	yamltree.To("token", "the text that the header carries; "+referenceForms, secretReference, func(w *webhookSettings) *reference { return &w.token }),
	yamltree.To("secret", "in place of a token, the key of a signature, the body's HMAC with SHA-256, hexadecimal or base64; "+referenceForms,
		secretReference, func(w *webhookSettings) *reference { return &w.secret }),
}, eventKeys(func(w *webhookSettings) *tracking.Format { return &w.format })...)

// eventKeys are the keys that say where an event's parts are.
func eventKeys[T any](format func(*T) *tracking.Format) []yamltree.Key[T] {
	key := func(name, doc string, field func(*tracking.Format) *string) yamltree.Key[T] {
		return yamltree.To(name, doc, pointer, func(t *T) *string { return field(format(t)) })
	}
	return []yamltree.Key[T]{
		key("events", "a JSON Pointer to the array of events; default: the document is one event, or an array", func(f *tracking.Format) *string { return &f.Events }),
		key("id", "the event's own id; default: two events that say the same are one", func(f *tracking.Format) *string { return &f.ID }),
		key("kind", "the kind of event", func(f *tracking.Format) *string { return &f.Kind }),
		key("status", "the status of the activity", func(f *tracking.Format) *string { return &f.Status }),
		key("client_id", "the id of the client or contact", func(f *tracking.Format) *string { return &f.Client }),
		key("claim_id", "the id of the claim", func(f *tracking.Format) *string { return &f.Claim }),
		key("activity_id", "the id of the activity, as wire.activity_id has it", func(f *tracking.Format) *string { return &f.Activity }),
		key("activity", "the name of the activity, to find it without an id", func(f *tracking.Format) *string { return &f.Template }),
		key("time", "when it happened, as RFC 3339 or a number of seconds or milliseconds since 1970; default: when it was received", func(f *tracking.Format) *string { return &f.At }),
	}
}

// pointerTo is a value that may be left out.
func pointerTo[T any](v yamltree.Value[T]) yamltree.Value[*T] {
	return yamltree.Value[*T]{Kinds: v.Kinds, Wants: v.Wants, Schema: v.Schema,
		Parse: func(r *yamltree.Reader, n *yamltree.Node, into **T) bool {
			*into = new(T)
			return v.Read(r, n, *into)
		}}
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
		r.Wrong(n, "missing-key", "%s needs “kinds”, “statuses”, or both", n.Name()).Hint = "list the words of the events which say that the client has completed an activity"
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

// Webhook fetches the webhook's secret and returns its handler, without Keep, Now and
// Log. nil means that the environment has none. The error is a problem.List.
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
