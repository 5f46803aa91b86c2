package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// AddressOwner is the client who has an address, and the state of the client's step.
type AddressOwner struct {
	ClientKey
	State State
}

// hashAddress stands for an address in the ledger, so that an address that nobody has any
// more is no personal data.
func hashAddress(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:16])
}

// own makes a client the owner of addresses that no other client has who exists, may exist
// or was given up: states 3 and 4 are those of clients who do not exist.
func (t *transaction) own(owner ClientKey, addresses []string) error {
	for _, address := range addresses {
		n, err := t.client(owner)
		if err == nil {
			_, err = t.exec(`INSERT INTO addresses (environment, address, client) VALUES (?, ?, ?)
				ON CONFLICT (environment, address) DO UPDATE SET client = excluded.client WHERE NOT EXISTS
					(SELECT 1 FROM steps s WHERE s.client = addresses.client AND s.mapping = 0 AND s.step = 'client' AND s.state NOT IN (3, 4))`,
				n.environment, hashAddress(address), n.client)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rejectAddress rejects an event of a client who is looked up by an address of another client,
// unless that one was certainly not created.
func (t *transaction) rejectAddress(e Event) error {
	for _, address := range e.LookedUp {
		o, ok, err := addressOwner(context.Background(), t, t.names, e.Environment, address)
		if err != nil {
			return err
		}
		if ok && o.State != Failed && o.State != NotSent && o.ClientKey != e.ClientKey {
			return rejected{Taken{Step: e.StepID, Holder: StepID{ClientKey: o.ClientKey, Step: KindClient}, Address: true}}
		}
	}
	return nil
}

// addressOwner returns the client who has an address.
func addressOwner(ctx context.Context, db querier, names *names, environment, address string) (o AddressOwner, ok bool, err error) {
	id, err := names.known(tableEnvironments, environment)
	if err != nil {
		return o, false, err
	}
	o.Environment = environment
	var state int64
	ok, err = first(ctx, db, []any{&o.Space, &o.Client, &state}, `SELECT c.space, c.client, s.state FROM addresses a
		JOIN clients c ON c.id = a.client JOIN steps s ON s.client = c.id AND s.mapping = 0 AND s.step = 'client'
		WHERE a.environment = ? AND a.address = ?`, id, hashAddress(address))
	o.State = word(states, state)
	return o, ok, err
}

// AddressOwners returns the clients of an environment who have some addresses, as
// Event.Addresses has them, by address.
func (l *Ledger) AddressOwners(ctx context.Context, environment string, addresses []string) (map[string]AddressOwner, error) {
	owners := map[string]AddressOwner{}
	for _, address := range addresses {
		o, ok, err := addressOwner(ctx, l.read, l.rows.names, environment, address)
		if err != nil {
			return nil, err
		}
		if ok {
			owners[address] = o
		}
	}
	return owners, nil
}
