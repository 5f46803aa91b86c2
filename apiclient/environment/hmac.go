package environment

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// signature is how requests are signed. The service document shows nothing of it, so
// everything is said by the environment: what the message is made of, how it is
// hashed and written, and which headers carry the result.
type signature struct {
	secret         reference
	secretEncoding string // text, hex or base64; "" means text
	algorithm      string
	encoding       string
	timestamp      string // how {timestamp} is written; "" when it is not used
	message        textPattern
	headers        []signedHeader
}

type signedHeader struct {
	name  string
	value textPattern
}

var algorithms = map[string]func() hash.Hash{"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

var encodings = map[string]func([]byte) string{
	"hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString, "base64url": base64.RawURLEncoding.EncodeToString,
}

var timestamps = map[string]func(time.Time) string{
	"unix":    func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	"unix_ms": func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) },
	"rfc3339": func(t time.Time) string { return t.Format("2006-01-02T15:04:05Z") },
	"http":    func(t time.Time) string { return t.Format(http.TimeFormat) },
}

// textPattern is a text with placeholders in braces.
type textPattern []piece

// piece is a text, or a placeholder with what it stands for.
type piece struct {
	text string
	name string // of a placeholder, up to the first colon; "" for a text
	of   string // the header of {header:NAME}
	fill func(*signing) string
}

// signing is one request that is being signed.
type signing struct {
	req                         *http.Request
	body                        []byte
	timestamp, nonce, signature string
}

// placeholders are those without a colon, and what they stand for.
var placeholders = map[string]func(*signing) string{
	"method":    func(s *signing) string { return s.req.Method },
	"url":       func(s *signing) string { u := *s.req.URL; u.Host = s.req.Host; return u.String() },
	"host":      func(s *signing) string { return s.req.Host },
	"path":      func(s *signing) string { return s.req.URL.EscapedPath() },
	"query":     func(s *signing) string { return s.req.URL.RawQuery },
	"target":    func(s *signing) string { return s.req.URL.RequestURI() },
	"body":      func(s *signing) string { return string(s.body) },
	"timestamp": func(s *signing) string { return s.timestamp },
	"nonce":     func(s *signing) string { return s.nonce },
	"signature": func(s *signing) string { return s.signature },
}

const placeholderForms = "{method}, {url}, {host}, {path}, {query}, {target} (path and query), {body}, {body:sha256:hex}, {timestamp}, {nonce}, {header:NAME} or {signature}"

// parsePattern parses a text with placeholders. {{ and }} are braces.
func parsePattern(text string) (p textPattern, wrong, hint string) {
	literal := ""
	flush := func() {
		if literal != "" {
			p = append(p, piece{text: literal})
		}
		literal = ""
	}
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			at = len(text)
		}
		literal, text = literal+text[:at], text[at:]
		switch {
		case text == "":
		case strings.HasPrefix(text, "{{"), strings.HasPrefix(text, "}}"):
			literal, text = literal+text[:1], text[2:]
		case text[0] == '}':
			return nil, "has a } without a {", "write }} for a brace"
		default:
			inside, rest, closed := strings.Cut(text[1:], "}")
			if !closed {
				return nil, "has a { without a }", "write {{ for a brace"
			}
			placeholder, wrong := parsePlaceholder(inside)
			if wrong != "" {
				return nil, wrong, "expected " + placeholderForms
			}
			flush()
			p, text = append(p, placeholder), rest
		}
	}
	flush()
	return p, "", ""
}

func parsePlaceholder(inside string) (p piece, wrong string) {
	shown := "{" + problem.Shorten(inside) + "}"
	words := strings.Split(inside, ":")
	fill, known := placeholders[inside]
	switch {
	case known:
		return piece{name: inside, fill: fill}, ""
	case words[0] == "header" && len(words) == 2:
		if !headerName.MatchString(words[1]) {
			return p, shown + " does not name a header"
		}
		return piece{name: "header", of: words[1], fill: func(s *signing) string { return s.req.Header.Get(words[1]) }}, ""
	case words[0] == "body" && len(words) == 3 && algorithms[words[1]] != nil && encodings[words[2]] != nil:
		return piece{name: "body:", fill: func(s *signing) string {
			h := algorithms[words[1]]()
			h.Write(s.body)
			return encodings[words[2]](h.Sum(nil))
		}}, ""
	case words[0] == "body":
		return p, shown + " is not a hash of the body: write {body:ALGORITHM:ENCODING} with " +
			problem.OrList(names(algorithms)) + ", and " + problem.OrList(names(encodings))
	}
	return p, "has an unknown placeholder " + shown
}

// names are the sorted keys of a table.
func names[V any](table map[string]V) []string {
	var list []string
	for name := range table {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (p textPattern) uses(name string) bool {
	return slices.ContainsFunc(p, func(piece piece) bool { return piece.name == name })
}

// expand returns the text for a request.
func (p textPattern) expand(s *signing) string {
	var b strings.Builder
	for _, piece := range p {
		if piece.fill == nil {
			b.WriteString(piece.text)
		} else {
			b.WriteString(piece.fill(s))
		}
	}
	return b.String()
}

// patternValue is a text with placeholders in the file.
var patternValue = yamltree.Parsed("a text with placeholders such as {method}", yamltree.Text.Schema,
	func(r *yamltree.Reader, n *yamltree.Node) (textPattern, bool) {
		p, wrong, hint := parsePattern(n.Text())
		if wrong == "" && strings.TrimSpace(n.Text()) == "" {
			wrong, hint = "must not be empty", "expected a text with "+placeholderForms
		}
		if wrong != "" {
			r.Wrong(n, "placeholder", "%s %s", n.Name(), wrong).Hint = hint
		}
		return p, wrong == ""
	})

// messageValue is what is signed.
var messageValue = patternValue.Then(func(r *yamltree.Reader, n *yamltree.Node, p *textPattern) {
	switch {
	case p.uses("signature"):
		r.Wrong(n, "placeholder", "%s has {signature}, which is made of it", n.Name()).Hint = "put {signature} into one of the headers"
	case !slices.ContainsFunc(*p, func(piece piece) bool { return piece.fill != nil }):
		r.Wrong(n, "placeholder", "%s has no placeholder: every request would have the same signature", n.Name()).
			Hint = "expected a text with " + placeholderForms
	}
})

// signedHeaders are the headers that carry a signature and what belongs to it.
var signedHeaders = yamltree.Value[[]signedHeader]{
	Kinds: yamltree.Objects, Wants: yamltree.WantsObject, Schema: yamltree.Map(patternValue).Schema,
	Parse: func(r *yamltree.Reader, n *yamltree.Node, into *[]signedHeader) bool {
		for v := range headerPairs(r, n, "Authorization") {
			h := signedHeader{name: http.CanonicalHeaderKey(v.Key())}
			patternValue.Read(r, v, &h.value)
			h.check(r, v)
			*into = append(*into, h)
		}
		return true
	},
}

func (h signedHeader) check(r *yamltree.Reader, n *yamltree.Node) {
	fixed := !slices.ContainsFunc(h.value, func(piece piece) bool { return piece.fill != nil })
	switch {
	case h.value == nil: // reported already
	case h.value.uses("body"):
		r.Wrong(n, "placeholder", "%s has {body}, which a header cannot carry", n.Name()).Hint = "write a hash of it, such as {body:sha256:hex}"
	case checkHeaderText(n.Text()) != nil:
		r.Wrong(n, "control-character", "%s has a line break or another control character inside", n.Name()).
			Hint = "write it on one line; only “message” may have line breaks"
	case fixed && secretName.MatchString(h.name):
		r.Wrong(n, "literal-secret", "%s is most likely a secret and must not be written in this file", n.Name()).
			Hint = "put it into the environment's “headers”: there a value can be " + referenceForms
	}
}

// checkSignature checks what depends on several keys of a signature.
func checkSignature(r *yamltree.Reader, n *yamltree.Node, s *signature) {
	carried := func(name string) bool {
		return slices.ContainsFunc(s.headers, func(h signedHeader) bool { return h.value.uses(name) })
	}
	message, headers, timestamp := n.Given("message"), n.Given("headers"), n.Given("timestamp")
	// What could not be read is reported already and says nothing about the rest.
	unread := 0
	for range headers.Values() {
		unread++
	}
	for _, h := range s.headers {
		if h.value != nil {
			unread--
		}
	}
	if headers == nil || message == nil || s.message == nil || unread > 0 {
		return
	}
	if !carried("signature") {
		r.Wrong(headers, "no-signature", "none of the headers carries {signature}").Hint = "add the header that the service reads it from, such as X-Signature: \"{signature}\""
	}
	for _, name := range []string{"timestamp", "nonce"} {
		if s.message.uses(name) && !carried(name) {
			r.Wrong(message, "not-carried", "%s signs {%s}, and no header carries it: the service could not verify the signature", message.Name(), name).
				Hint = "add the header that the service reads it from, with {" + name + "}"
		}
	}
	used := s.message.uses("timestamp") || carried("timestamp")
	switch {
	case used && timestamp == nil:
		r.Wrong(n, "missing-key", "{timestamp} is used, and “timestamp” does not say how it is written").
			Hint = "add timestamp: " + problem.OrList(names(timestamps))
	case !used && timestamp != nil:
		r.WrongAt(timestamp.KeyAt(), "auth-key", "“timestamp” is given, and {timestamp} is not used").
			Hint = "use it in “message” and in one of the headers, or leave “timestamp” out"
	}
}

// signer signs requests. It is safe for concurrent use.
type signer struct {
	signature
	key func() []byte // a function, so that a signer can be printed
}

// resolve fetches the secret and returns apiclient.Config.Sign.
func (s signature) resolve(r *resolver) func(*http.Request, []byte, time.Time) ([]string, error) {
	return signer{s, s.fetchKey(r)}.sign
}

// fetchKey fetches the secret and decodes it. The key is in a function, so that what
// holds it can be printed.
func (s signature) fetchKey(r *resolver) func() []byte {
	secret := r.secret(s.secret)
	decode := func() ([]byte, error) { return []byte(secret.Reveal()), nil }
	switch s.secretEncoding {
	case "hex":
		decode = func() ([]byte, error) { return hex.DecodeString(secret.Reveal()) }
	case "base64":
		decode = func() ([]byte, error) { return decodeBase64(secret.Reveal()) }
	}
	key, err := decode()
	if err != nil {
		r.note(problem.At(s.secret.at.In(r.file), "secret", "“secret” is not %s", s.secretEncoding).
			Hinted("correct the secret, or “secret_encoding”"))
	}
	return func() []byte { return key }
}

// decodeBase64 takes both alphabets, with padding or without.
func decodeBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	return base64.RawStdEncoding.DecodeString(text)
}

// sign signs a request; see apiclient.Config.Sign. Every attempt has its own
// timestamp and nonce.
func (s signer) sign(req *http.Request, body []byte, now time.Time) (hidden []string, err error) {
	one := &signing{req: req, body: body, nonce: uuid.NewString()}
	if write := timestamps[s.timestamp]; write != nil {
		one.timestamp = write(now.UTC())
	}
	for _, last := range []bool{false, true} {
		if last {
			one.signature = s.signatureOf(one)
		}
		for _, h := range s.headers {
			if h.value.uses("signature") != last {
				continue
			}
			value := h.value.expand(one)
			if checkHeaderText(value) != nil {
				return nil, &apiclient.Failure{NotSent: true, Stop: true, Reason: "the header " + h.name + " of the signature cannot be sent: it is empty or has a control character",
					Hint: "check headers of the environment's auth"}
			}
			req.Header.Set(h.name, value)
			if last {
				hidden = append(hidden, value)
			}
		}
	}
	return append(hidden, one.signature), nil
}

// signatureOf returns the signature of a request whose other parts are known.
func (s signer) signatureOf(one *signing) string {
	mac := hmac.New(algorithms[s.algorithm], s.key())
	mac.Write([]byte(s.message.expand(one)))
	return encodings[s.encoding](mac.Sum(nil))
}
