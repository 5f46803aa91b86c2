package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
)

// AddressOwner is the client who has an address, and the state of the client's step.
type AddressOwner struct {
	ClientKey
	Address  string
	State    State
	Run      string // in which the step got into that state
	LookedUp bool   // the client is looked up by the address
}

// IsUncertain reports whether it is unknown whether the owner was created.
func (o AddressOwner) IsUncertain() bool {
	return o.State == Sent || o.State == Uncertain
}

// IsKey reports whether the address is the owner's key, and the owner is looked up by it.
func (o AddressOwner) IsKey() bool { return o.LookedUp && o.Address == o.Space+" "+o.Client }

// also stands before an address by which its client is not looked up.
const also = "also "

// hashAddress returns the hash that the ledger keeps in place of an address, which is personal data.
func hashAddress(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:16])
}

// takeAddresses makes the client of an event the owner of its addresses, but for those of a client who
// exists, may exist or was given up. The
// intent of a client who is looked up by such an address is rejected.
func (t *transaction) takeAddresses(e Event) error {
	for _, address := range e.Addresses {
		lookedUp := slices.Contains(e.LookedUp, address)
		if !lookedUp {
			address = also + address
		}
		client, err1 := t.client(e.ClientKey)
		environment, err2 := t.number(e.Environment)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		key := hashAddress(address)
		added, err := t.exec(`INSERT INTO addresses (environment, address, client) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, environment, key, client)
		if err != nil {
			return err
		}
		if added > 0 {
			continue
		}
		// Wait for a process that is changing the row, so that the next statement sees its step.
		if _, err := t.exec(`UPDATE addresses SET client = client WHERE environment = ? AND address = ?`, environment, key); err != nil {
			return err
		}
		owned, err := t.exec(`UPDATE addresses SET client = ? WHERE environment = ? AND address = ? AND (client = ? OR NOT EXISTS
			(SELECT 1 FROM steps s WHERE s.client = addresses.client AND s.mapping = 0 AND s.step = 'client' AND `+notRefused+`))`,
			client, environment, key, client)
		if err != nil {
			return err
		}
		if owned == 0 && lookedUp { // another process has taken the row since append asked
			if err := t.rejectAddress(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// rejectAddress rejects the intent of a client who is looked up by an address of another client, or has one
// that is the key of another, unless that one was certainly not created.
func (t *transaction) rejectAddress(e Event) error {
	if e.State != Sent || len(e.LookedUp) == 0 {
		return nil
	}
	for _, address := range e.Addresses {
		owners, err := addressOwners(context.Background(), t.database, e.Environment, address)
		if err != nil {
			return err
		}
		for _, o := range owners {
			if o.ClientKey != e.ClientKey && o.State != Refused && (o.IsKey() || slices.Contains(e.LookedUp, address) && (o.LookedUp || o.IsUncertain())) {
				return reject(Taken{Step: e.StepID, Holder: StepID{ClientKey: o.ClientKey, Step: KindClient}, Address: true})
			}
		}
	}
	return nil
}

// addressOwners returns the client who is looked up by an address, and the one who has it
// besides.
func addressOwners(ctx context.Context, db *database, environment, address string) (owners []AddressOwner, err error) {
	for _, as := range []string{"", also} {
		o := AddressOwner{ClientKey: ClientKey{Environment: environment}, Address: address, LookedUp: as == ""}
		var state int64
		ok, err := first(ctx, db, []any{&o.Space, &o.Client, &state, &o.Run}, `SELECT c.space, c.client, s.state, coalesce((SELECT n.name FROM names n WHERE n.id = s.run), '')
			FROM addresses a JOIN clients c ON c.id = a.client JOIN steps s ON s.client = c.id AND s.mapping = 0 AND s.step = 'client'
			WHERE a.environment = `+numberOf+` AND a.address = ?`, environment, hashAddress(as+address))
		if err != nil {
			return nil, err
		}
		if ok {
			o.State = word(states, state)
			owners = append(owners, o)
		}
	}
	return owners, nil
}

// AddressOwners returns the clients of an environment who have some addresses, as
// Event.Addresses has them, in the order of the addresses.
func (l *Ledger) AddressOwners(ctx context.Context, environment string, addresses []string) (owners []AddressOwner, err error) {
	for _, address := range addresses {
		found, err := addressOwners(ctx, l.read, environment, address)
		if err != nil {
			return nil, err
		}
		owners = append(owners, found...)
	}
	return owners, nil
}
