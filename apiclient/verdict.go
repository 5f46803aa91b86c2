package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
)

const maxKept = 4 << 10 // of an answer that is not 2xx, in bytes

// Create sends a creating request, once, and judges what became of it.
func (c *Client) Create(ctx context.Context, r Request) Verdict {
	a, err := c.Do(ctx, r)
	v := c.Judge(r, a, err)
	switch {
	case err != nil:
	case v.Effect == Refused:
		c.noteUnknown(r, a, "failed")
	case v.Effect == Uncertain:
		c.noteUnknown(r, a, "uncertain")
	}
	return v
}

// Judge says what became of a creating request, from what Do returned. It
// sends nothing. The configured Rules decide first; then the status, and for a
// 2xx whether the answer carries what the kind needs: an id, for a link the
// redirect url, for an activity an id only if wire.activity_id asks for one.
//
// It judges one attempt by itself: that an earlier attempt was Uncertain
// (which gives a 409 another meaning) is for the caller to weigh.
func (c *Client) Judge(r Request, a Answer, err error) Verdict {
	v := Verdict{Status: a.Status, RetryAfter: a.RetryAfter}
	if a.Status == 0 {
		return v.unanswered(err)
	}
	if rule, ok := c.ruleFor(a); ok && err == nil {
		v = c.judgeByRule(v, rule, r, a)
		v.Ruled = true
	} else {
		v = c.judgeByStatus(v, r, a, err)
	}
	v.Busy = c.asksForTime(a)
	v.Shared = v.Retry && v.Busy
	v.Answer = c.kept(r, a, v)
	return v
}

// unanswered judges a request that got no answer.
func (v Verdict) unanswered(err error) Verdict {
	v.Effect, v.Reason = Uncertain, "there was no answer"
	if f, ok := errors.AsType[*Failure](err); ok {
		v.Reason, v.Stop, v.Hint = f.Reason, f.Stop, f.Hint
		if f.NotSent {
			v.Effect = NotSent
			v.Retry, v.Busy, v.Shared = f.Busy, f.Busy, f.Busy
		}
	}
	return v
}

func (c *Client) judgeByStatus(v Verdict, r Request, a Answer, err error) Verdict {
	if a.Status/100 == 2 {
		if err != nil {
			v.Effect, v.Reason = Uncertain, err.Error()
			return v
		}
		v = c.read(v, r, a)
		if a.Status == http.StatusAccepted && v.Effect == Created && v.ID == "" && v.URL == "" {
			v.Effect, v.Reason = Uncertain, statusText(a.Status)+", which only promises to do it"
			v.Hint = "if the service's operator vouches for it, add an errors rule: {status: 202, means: done}"
		}
		return v
	}
	m := meaningOf(a)
	v.Effect, v.Stop, v.Retry, v.Hint = m.effect, m.stop, m.retry, m.hint
	v.Reason, v.Detail = statusText(a.Status), detail(c.forShow(a))
	return v
}

// judgeByRule lets a Rule decide. A rule that means stop leaves the effect to
// the status; one that means done still needs the id that the step needs.
func (c *Client) judgeByRule(v Verdict, rule Rule, r Request, a Answer) Verdict {
	switch rule.Means {
	case "done":
		v = c.read(v, r, a)
	case "stop":
		v = c.judgeByStatus(v, r, a, nil)
		v.Stop = true
	case "uncertain":
		v.Effect = Uncertain
	case "retry":
		v.Effect, v.Retry = Refused, true
	default:
		v.Effect = Refused
	}
	if v.Effect != Created && v.Reason == "" {
		v.Reason = statusText(a.Status) + ", which the environment's errors rules read as " + rule.Means
	}
	if v.Effect != Created {
		v.Detail = detail(c.forShow(a))
	}
	if rule.Hint != "" {
		v.Hint = rule.Hint
	}
	return v
}

// ruleFor is the first Rule that an answer matches.
func (c *Client) ruleFor(a Answer) (Rule, bool) {
	i := slices.IndexFunc(c.rules, func(r rule) bool { return r.applies(a) })
	if i < 0 {
		return Rule{}, false
	}
	return c.rules[i].Rule, true
}

// applies tells whether the rule is about the answer: its status, and what its
// pointer leads to (an object's or array's JSON, a scalar's text).
func (r rule) applies(a Answer) bool {
	if r.Status != 0 && r.Status != a.Status {
		return false
	}
	if r.Pointer == "" {
		return r.matches.Match(a.Body)
	}
	doc, ok := document(a.Body)
	if !ok {
		return false
	}
	return slices.ContainsFunc(follow(doc, r.Pointer).values, func(value json.RawMessage) bool {
		if text, ok := scalar(value); ok {
			return r.matches.MatchString(text)
		}
		return r.matches.Match(value)
	})
}
