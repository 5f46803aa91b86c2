package environment

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// signature is how the service signs its webhooks. The service document shows nothing
// of it, so the environment says everything.
type signature struct {
	secret         reference
	secretEncoding string // text, hex or base64; "" means text
	algorithm      string
	encoding       string
	message        string // what is signed, with placeholders; "" means {body}
	value          string // what the header carries; "" means {signature}
}

// placeholder matches a placeholder of message and value, such as {body}.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

var headerPlaceholder = regexp.MustCompile("^{header:[!#$%&'*+.^_`|~0-9A-Za-z-]+}$")

// signedText is a text with placeholders, one of which it needs; why says what happens
// without that one.
func signedText(needed, why string) yamltree.Value[string] {
	return yamltree.Text.Then(func(r *yamltree.Reader, n *yamltree.Node, text *string) {
		allowed := []string{needed, "{method}", "{path}", "{query}", "{target}"}
		hint := "expected " + strings.Join(allowed, ", ") + " or {header:NAME}"
		found := placeholder.FindAllString(*text, -1)
		for _, p := range found {
			if !slices.Contains(allowed, p) && !headerPlaceholder.MatchString(p) {
				r.Wrong(n, "placeholder", "%s has an unknown placeholder %s", n.Name(), problem.Shorten(p)).Hint = hint
			}
		}
		if !slices.Contains(found, needed) {
			r.Wrong(n, "placeholder", "%s has no %s: %s", n.Name(), needed, why).Hint = hint
		}
	})
}

// verifier returns what compares a header with the signature of its request.
func (s signature) verifier(header string, r *resolver) func(*http.Request, []byte) bool {
	secret := r.secret(s.secret)
	key, err := []byte(secret.Reveal()), error(nil)
	switch s.secretEncoding {
	case "hex":
		key, err = hex.DecodeString(secret.Reveal())
	case "base64": // either alphabet, with padding or without
		text := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(secret.Reveal(), "="))
		key, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil {
		r.note(problem.At(s.secret.at.In(r.file), "secret", "“secret” is not %s", s.secretEncoding).
			Hinted("correct the secret, or “secret_encoding”"))
	}
	newHash := map[string]func() hash.Hash{"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}[s.algorithm]
	encode := map[string]func([]byte) string{
		"hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString, "base64url": base64.RawURLEncoding.EncodeToString,
	}[s.encoding]
	return func(r *http.Request, body []byte) bool {
		mac := hmac.New(newHash, key)
		mac.Write([]byte(expand(cmp.Or(s.message, "{body}"), r, body, "")))
		want := expand(cmp.Or(s.value, "{signature}"), r, body, encode(mac.Sum(nil)))
		got := r.Header.Get(header)
		if s.encoding == "hex" { // either case is usual
			got, want = strings.ToLower(got), strings.ToLower(want)
		}
		return len(r.Header.Values(header)) == 1 && hmac.Equal([]byte(got), []byte(want))
	}
}

// expand replaces the placeholders of a text.
func expand(text string, r *http.Request, body []byte, signature string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		switch name, header, _ := strings.Cut(strings.Trim(p, "{}"), ":"); name {
		case "body":
			return string(body)
		case "method":
			return r.Method
		case "path":
			return r.URL.EscapedPath()
		case "query":
			return r.URL.RawQuery
		case "target":
			return r.URL.RequestURI()
		case "header":
			return r.Header.Get(header)
		}
		return signature
	})
}
