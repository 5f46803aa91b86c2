package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"strings"
)

// KeySpace is what the client keys of the binding's sheet are keys of: the
// Space of every Identity that it makes.
func (b *Binding) KeySpace() string { return b.keySpace }

// IsEmail reports that an identity is an e-mail address.
func (i Identity) IsEmail() bool { return i.Space == EmailSpace }

// AddressesIn are the addresses that a text is, as Plan.Addresses would have
// them: an e-mail address, or a phone number as it is written and, where the
// binding knows how such texts are dialled, in E.164. It is for texts of whose
// type nothing is known.
func (b *Binding) AddressesIn(text string) []Identity {
	written := func(space string) Identity { return addressOf(space, item{value: cell.Value{Literal: text}}) }
	if text == "" {
		return nil
	}
	if strings.Contains(text, "@") {
		return []Identity{written(EmailSpace)}
	}
	found := []Identity{written(PhoneSpace)}
	conversion := convert.Converter{Type: convert.Phone}
	if v := b.lookup.phone; v != nil {
		conversion.Region = v.conv.Region
	}
	if value, refusal := conversion.Convert(cell.Cell{Kind: cell.Text, Raw: text, Shown: text}); refusal == nil && value.Literal != text {
		found = append(found, addressOf(PhoneSpace, item{value: value}))
	}
	return found
}

// ResultColumn is the name of the column of a results workbook that a header
// stands for, ignoring case and runs of white space: one of ResultColumns, or
// "" for a column of the source.
func ResultColumn(header string) string {
	for _, name := range ResultColumns {
		if convert.FoldHeader(name) == convert.FoldHeader(header) {
			return name
		}
	}
	return ""
}

// Folded is an identity with its key as keys are folded now. A ledger may hold
// one that was folded by older rules.
func (i Identity) Folded() Identity {
	i.Key = convert.FoldKey(i.Key)
	if i.Space == EmailSpace {
		i.Key = convert.FoldEmail(i.Key)
	}
	return i
}

// FoldStep is the key of a step with the claim key in it as keys are folded now.
func FoldStep(key string) string {
	from := strings.IndexByte(key, '@') // claim/ID/KEY, activity/ID@ID/KEY
	if claim := string(ClaimStep) + "/"; strings.HasPrefix(key, claim) {
		from = len(claim) - 1
	}
	slash := strings.IndexByte(key[from+1:], '/')
	if from < 0 || slash < 0 {
		return key
	}
	at := from + 1 + slash + 1
	return key[:at] + convert.FoldKey(key[at:])
}
