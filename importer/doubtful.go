package importer

import (
	"context"
	"encoding/json"
	"fmt"

	"claimsheet/mapping"
)

// knowDoubtful learns which addresses clients have of whom nobody knows yet
// whether earlier runs created them. A look-up that does not find such an address
// proves nothing: the service may still be creating that client.
func (j *Job) knowDoubtful(ctx context.Context) error {
	for step, err := range j.Ledger.UndecidedClients(ctx, j.Environment) {
		if err != nil {
			return err
		}
		who := mapping.Identity{Space: step.Space, Key: step.Client}
		j.meetings.doubtful.note(addressIn(who.Space, who.Key), who)
		var was asked
		if json.Unmarshal(step.Data, &was) != nil {
			continue // purged
		}
		for _, v := range was.Values { // which of them is an address, the mapping of that time knew
			j.meetings.doubtful.note(addressIn("email", v.Value), who)
			j.meetings.doubtful.note(addressIn("phone", v.Value), who)
		}
	}
	return nil
}

// addressIn is a value as addresses has it.
func addressIn(space, value string) string {
	if space == "email" {
		value = mapping.FoldEmail(value)
	}
	return space + " " + value
}

// doubt tells that a client whom a look-up does not find may be there all the
// same, under another key: met is then why nothing can be created.
func (a *acquaintances) doubt(plan mapping.Plan) (met meeting, doubted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range askedAddresses(plan.Lookup) {
		if other, known := a.doubtful.of(key); known && other != plan.Client {
			return meeting{advice: adviceDoubtful,
				reason: fmt.Sprintf("the client of the key “%s” has the same address, and may have been created by an earlier attempt", other.Key)}, true
		}
	}
	return meeting{}, false
}

// settled forgets that an address may be a client's by an earlier attempt: this
// run's says more. mu is held.
func (a *acquaintances) settled(key string, who mapping.Identity) {
	if other, known := a.doubtful.of(key); known && other == who {
		a.doubtful.forget(key)
	}
}

// askedAddresses are those that decide who a client is. People may share a
// phone: where there is an e-mail address, it decides.
func askedAddresses(l mapping.Lookup) []string {
	if l.Email != "" && !l.Confirm {
		l.Phone = ""
	}
	return addresses(l)
}
