package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
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
// or was given up.
func (t *transaction) own(owner ClientKey, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	n, err := t.client(owner)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if _, err := t.addAddress.exec(n.environment, hashAddress(address), n.client); err != nil {
			return err
		}
	}
	return nil
}

// rejectAddress rejects an event of a client who is looked up by an address of another client,
// unless that one was certainly not created.
func (t *transaction) rejectAddress(e Event) error {
	for _, address := range e.LookedUp {
		holder := StepID{ClientKey: ClientKey{Environment: e.Environment}, Step: KindClient}
		err := t.conn.QueryRowContext(context.Background(), addressOwner+` AND s.state NOT IN (3, 4)`, hashAddress(address), e.Environment).
			Scan(&holder.Space, &holder.Client, new(int64))
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case holder.ClientKey != e.ClientKey:
			return rejected{Taken{Step: e.StepID, Holder: holder, Address: true}}
		}
	}
	return nil
}

// addressOwner is the query for the client who has an address.
const addressOwner = `SELECT c.space, c.client, s.state FROM environments e
	JOIN addresses a ON a.environment = e.id AND a.address = ?
	JOIN clients c ON c.id = a.client JOIN steps s ON s.client = c.id AND s.mapping = 0 AND s.step = 'client'
	WHERE e.name = ?`

// addAddress is the statement of own: states 3 and 4 are those of clients who do not exist.
const addAddress = `INSERT INTO addresses (environment, address, client) VALUES (?, ?, ?)
	ON CONFLICT (environment, address) DO UPDATE SET client = excluded.client WHERE NOT EXISTS
		(SELECT 1 FROM steps s WHERE s.client = addresses.client AND s.mapping = 0 AND s.step = 'client' AND s.state NOT IN (3, 4))`

// AddressOwners returns the clients of an environment who have some addresses, as
// Event.Addresses has them, by address.
func (l *Ledger) AddressOwners(ctx context.Context, environment string, addresses []string) (map[string]AddressOwner, error) {
	owners := map[string]AddressOwner{}
	for _, address := range addresses {
		o := AddressOwner{ClientKey: ClientKey{Environment: environment}}
		var state int64
		err := l.read.QueryRowContext(ctx, addressOwner, hashAddress(address), environment).Scan(&o.Space, &o.Client, &state)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		o.State = State(word(states, state))
		owners[address] = o
	}
	return owners, nil
}
