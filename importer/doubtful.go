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

// sentLookup is how a client whose creation is in doubt is looked up: by what was
// sent.
type sentLookup struct {
	mapping.Lookup
	fields    map[string]string // what was sent, to compare with who is found
	asked     []string          // by which addresses
	corrected bool              // the sheet has another address by now
	unknown   bool              // what was sent is not known any more: the look-up is tonight's
}

// sentLookup is that of a client step.
func (j *Job) sentLookup(plan mapping.Plan, d decision) sentLookup {
	var was asked
	if d.known.Data == nil || json.Unmarshal(d.known.Data, &was) != nil {
		// A results workbook, from which it was taken over, does not say.
		return sentLookup{Lookup: plan.Lookup, fields: fieldTexts(plan), asked: askedAddresses(plan.Lookup),
			unknown: d.known.Digest != d.asked.digest()}
	}
	sent := sentLookup{fields: map[string]string{}}
	for _, v := range was.Values {
		sent.fields[v.Name] = v.Value
	}
	if was.Lookup != nil {
		sent.Lookup = mapping.Lookup{Email: was.Lookup.Email, Phone: was.Lookup.Phone, Confirm: was.Lookup.Confirm}
		sent.asked = was.Lookup.Asked
	} else {
		sent.Lookup, sent.asked = oldLookup(plan, was, j.Binding)
	}
	if sent.corrected = !slices.Equal(sent.asked, askedAddresses(plan.Lookup)); !sent.corrected {
		sent.Lookup = plan.Lookup // in the format of tonight
	}
	return sent
}

// oldLookup is the look-up for a record that does not say by what the client is
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
