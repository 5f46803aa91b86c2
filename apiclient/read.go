package apiclient

import (
	"cmp"
	"errors"
	"strings"
)

// need is what a successful answer to a kind of request must carry; nil for
// what it need not.
type need struct {
	id, url *string // places
	urlLess bool    // a missing url does not make the step undone
}

// needs says what the answers of a kind carry (document, tables of section
// "Endpoints", column "Payload returned").
func (c *Client) needs(k Kind) need {
	w := &c.cfg.Wire
	switch {
	case k == CreateClient && c.cfg.Version == V1:
		return need{id: &w.ClientID, url: &w.RedirectURL, urlLess: true}
	case k == CreateClient:
		return need{id: &w.ContactID}
	case k == CreateClaim:
		return need{id: &w.ClaimID}
	case k == CreateActivity && w.ActivityID != "":
		return need{id: &w.ActivityID}
	case k == CreateLink:
		return need{url: &w.RedirectURL}
	}
	return need{}
}

// read takes from an answer what the request's kind needs. Without it the
// verdict is Uncertain: the thing was probably created, and nobody knows its
// id. A v1 client with an id but no redirect url is Created all the same: its
// id is what everything else hangs on. One with a url but no id is Uncertain, and
// the url is kept: it is given only once.
func (c *Client) read(v Verdict, r Request, a Answer) Verdict {
	v.Effect = Created
	if err := c.readInto(&v, c.needs(r.Kind), r, a); err != nil {
		v.Effect, v.ID = Uncertain, ""
		v.Reason, v.Detail = statusText(a.Status)+", but the answer "+err.Error(), detail(c.forShow(a))
	}
	return v
}

func (c *Client) readInto(v *Verdict, n need, r Request, a Answer) error {
	if n.id == nil && n.url == nil {
		if _, ok := document(a.Body); len(a.Body) > 0 && !ok {
			return errors.New(notJSON(a))
		}
		return nil
	}
	var noID, noURL error
	if n.id != nil {
		v.ID, noID = idAt(a, *n.id)
	}
	if n.url != nil {
		v.URL, noURL = c.linkAt(r, a, *n.url)
	}
	if noID == nil && noURL != nil && n.urlLess {
		v.Reason = "created without a redirect url: the answer " + noURL.Error()
		if strings.Contains(v.Reason, errTooLong.Error()) {
			v.Hint = "The redirect url is longer than a cell of a workbook can hold. Ask the service's operator for shorter ones; the ledger keeps the answer."
		}
		noURL = nil
	}
	return cmp.Or(noID, noURL)
}

// idAt is the id at a place of an answer.
func idAt(a Answer, place string) (string, error) {
	f, err := locate(a, place, follow)
	if err != nil {
		return "", err
	}
	return identifier(f, place)
}

// linkAt is the redirect url at a place of the answer to a request.
func (c *Client) linkAt(r Request, a Answer, place string) (string, error) {
	f, err := locate(a, place, follow)
	if err != nil {
		return "", err
	}
	base, err := r.below(c.base)
	if err != nil {
		base = c.base
	}
	return link(f, place, base)
}
