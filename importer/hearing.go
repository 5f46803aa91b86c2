package importer

import (
	"context"
	"errors"

	"claimsheet/apiclient"
)

// find makes one look-up. Before the first of its kind it finds out what an
// answer that finds nobody looks like, so that an error page is not taken for
// one.
func (a *acquaintances) find(ctx context.Context, by apiclient.By, value string) (apiclient.Found, error) {
	if err := a.learn(ctx, by); err != nil {
		return apiclient.Found{}, err
	}
	a.mu.Lock()
	attempts := a.attempts()
	a.mu.Unlock()
	var found apiclient.Found
	err := askAgain(ctx, attempts, a.first, func() (err error) {
		found, err = a.service.Find(ctx, by, value)
		return err
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	return found, a.listen(err)
}

// patient is how many look-ups in a row are made again that get no answer.
const patient = 3

// listen counts the look-ups in a row to which there was no answer. A service
// that has never given one is not there: the failure has Stop set. mu is held.
func (a *acquaintances) listen(err error) error {
	f, failed := errors.AsType[*apiclient.Failure](err)
	if !failed || f.Retry != apiclient.Now {
		a.deaf, a.heard = 0, a.heard || err == nil
		return err
	}
	if a.deaf++; a.deaf < patient || a.heard || a.dogged {
		return err
	}
	return &apiclient.Failure{Stop: true, Err: err, Hint: f.Hint, Reason: "the service answers no look-up: " + f.Reason}
}

// attempts is how often a look-up is made that fails. A service that is away
// for all of them a few times in a row is not waited for by every client. mu is
// held.
func (a *acquaintances) attempts() int {
	if a.deaf >= patient {
		return 1
	}
	return maxAttempts
}

// learn finds out what an answer that finds nobody looks like, once for each kind
// of look-up. Workers that need the same kind wait for the one that asks; the
// others do not.
func (a *acquaintances) learn(ctx context.Context, by apiclient.By) error {
	_, err, _ := a.learning.Do(string(by), func() (any, error) {
		a.mu.Lock()
		learnt, attempts := a.learnt[by], a.attempts()
		a.mu.Unlock()
		if learnt {
			return nil, nil
		}
		err := askAgain(ctx, attempts, a.first, func() error { return a.service.LearnAbsent(ctx, by) })
		a.mu.Lock()
		defer a.mu.Unlock()
		a.learnt[by] = err == nil
		return nil, a.listen(err)
	})
	return err
}

// answered tells that the service has answered a look-up.
func (a *acquaintances) answered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heard
}
