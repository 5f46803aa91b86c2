package lookup

import (
	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// Address names an e-mail address, a phone number or a client's key: the form in
// which this package compares them, and in which the ledger keeps them.
func Address(who mapping.Identity) string { return who.Space + " " + who.Key }

// Addresses are all addresses of a plan's client, of which two clients may have
// some in common.
func Addresses(plan mapping.Plan) []string {
	list := make([]string, len(plan.Addresses))
	for i, who := range plan.Addresses {
		list[i] = Address(who)
	}
	return list
}

// Asked are the addresses by which a client may be looked up, and which decide who it
// is. People may share a phone: where there is an e-mail address, that decides, unless the
// mapping says another mode.
func Asked(l mapping.Lookup) []string {
	var list []string
	for _, who := range l.Asked() {
		list = append(list, Address(who))
	}
	return list
}

// By are the look-ups that may find a client, in their order.
func By(l mapping.Lookup) []apiclient.By {
	var by []apiclient.By
	if l.Email != "" {
		by = append(by, apiclient.ByEmail)
	}
	if l.AsksByPhone() {
		by = append(by, apiclient.ByPhone)
	}
	return by
}

// Fields are a plan's client fields as text, by dotted path, to compare with who
// is found.
func Fields(plan mapping.Plan) map[string]string {
	texts := map[string]string{}
	for _, step := range plan.Steps {
		for _, f := range step.Fields {
			if !f.Value.IsZero() {
				texts[f.Name] = f.Value.Literal
			}
		}
	}
	return texts
}
