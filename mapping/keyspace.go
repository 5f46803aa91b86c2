package mapping

import (
	"claimsheet/mapping/cell"
	"strings"
)

// KeySpace is what the client keys of the binding's sheet are keys of: the
// Space of every Identity that it makes.
func (b *Binding) KeySpace() string { return b.keySpace }

// IsEmail reports that an identity is an e-mail address.
func (i Identity) IsEmail() bool { return i.Space == emailSpace }

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
		return []Identity{written(emailSpace)}
	}
	found := []Identity{written(phoneSpace)}
	conversion := Conversion{Type: Phone}
	if v := b.lookup.phone; v != nil {
		conversion.Region = v.conv.Region
	}
	if value, refusal := conversion.Convert(cell.Cell{Kind: cell.Text, Raw: text, Shown: text}); refusal == nil && value.Literal != text {
		found = append(found, addressOf(phoneSpace, item{value: value}))
	}
	return found
}

// ResultColumn is the name of the column of a results workbook that a header
// stands for, ignoring case and runs of white space: one of ResultColumns, or
// "" for a column of the source.
func ResultColumn(header string) string {
	for _, name := range ResultColumns {
		if foldHeader(name) == foldHeader(header) {
			return name
		}
	}
	return ""
}
