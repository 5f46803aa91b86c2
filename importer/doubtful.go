package importer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/mapping"
)

// knowDoubtful learns which addresses clients have of whom nobody knows yet
// whether earlier runs created them. Of two with one address it is the earlier
// one's. The addresses stay theirs for the whole run, whatever it finds out, so
// that the order of the rows makes no difference to other clients.
func (j *Job) knowDoubtful(ctx context.Context) error {
	for step, err := range j.Ledger.UndecidedClients(ctx, j.Environment) {
		if err != nil {
			return err
		}
		who := mapping.Identity{Space: step.Space, Key: step.Client}
		keys := []string{addressKey(who)}
		var was asked
		if json.Unmarshal(step.Data, &was) == nil { // it is purged otherwise
			keys = append(keys, was.Addresses...)
			for _, v := range was.Values { // older records say no addresses
				for _, address := range j.Binding.AddressesIn(v.Value) {
					keys = append(keys, addressKey(address))
				}
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		for _, key := range keys {
			j.meetings.doubtful.note(key, who)
		}
		j.meetings.doubts[who] = keys
	}
	return nil
}

// sentLookup is how the client is looked up whose creation is in doubt: by what
// was sent. corrected tells that the sheet has another address by now; ok is
// false when that is not to be known any more.
func sentLookup(plan mapping.Plan, d decision, b *mapping.Binding) (lookup mapping.Lookup, fields map[string]string, corrected, ok bool) {
	var was asked
	if d.known.Data == nil || json.Unmarshal(d.known.Data, &was) != nil {
		// Taken over from a workbook, or purged.
		return plan.Lookup, fieldTexts(plan), false, d.known.Digest == "" || d.known.Digest == d.asked.digest()
	}
	fields = map[string]string{}
	for _, v := range was.Values {
		fields[v.Name] = v.Value
	}
	var then []string
	if was.Lookup != nil {
		lookup = mapping.Lookup{Email: was.Lookup.Email, Phone: was.Lookup.Phone, Confirm: was.Lookup.Confirm}
		then = was.Lookup.Asked
	} else {
		lookup, then = oldLookup(plan, was, b)
	}
	if now := askedAddresses(plan.Lookup); slices.Equal(then, now) {
		return plan.Lookup, fields, false, true // in the format of tonight
	}
	return lookup, fields, true, len(then) > 0
}

// oldLookup is sentLookup for a record that does not say by what the client is
// looked up: tonight's addresses, if they are among what was sent, else the
// first address that was.
func oldLookup(plan mapping.Plan, was asked, b *mapping.Binding) (lookup mapping.Lookup, asked []string) {
	sent := map[string]string{} // what was sent as an address
	for _, v := range was.Values {
		for _, address := range b.AddressesIn(v.Value) {
			key := addressKey(address)
			sent[key] = v.Value
			switch {
			case lookup.Email == "" && address.IsEmail():
				lookup.Email, lookup.EmailAddress = v.Value, address
			case lookup.Phone == "" && strings.HasPrefix(address.Key, "+"):
				lookup.Phone, lookup.PhoneNumber = v.Value, address
			}
		}
	}
	now := askedAddresses(plan.Lookup)
	if len(now) > 0 && !slices.ContainsFunc(now, func(key string) bool { return sent[key] == "" }) {
		return plan.Lookup, now
	}
	return lookup, askedAddresses(lookup)
}
