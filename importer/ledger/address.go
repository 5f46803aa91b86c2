package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
)

// AddressOwner is the client who has an address, and the state of the client's step.
type AddressOwner struct {
	ClientKey
	State    State
	Run      string // in which the step got into that state
	LookedUp bool   // the client is looked up by the address
}

// InDoubt reports whether it is unknown whether the owner was created.
func (o AddressOwner) InDoubt() bool {
	return o.State == Intent || o.State == Uncertain || o.State == Parked
}

// also stands before an address by which its client is not looked up.
const also = "also "

// hashAddress stands for an address in the ledger, so that an address that nobody has any
// more is no personal data.
func hashAddress(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:16])
}

// own makes a client the owner of addresses that no other client has who exists, may exist
// or was given up.
func (t *transaction) own(owner ClientKey, addresses, lookedUp []string) error {
	if len(addresses) == 0 {
		return nil
	}
	n, err := t.client(owner)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if !slices.Contains(lookedUp, address) {
			address = also + address
		}
		if _, err := t.addAddress.exec(n.environment, hashAddress(address), n.client); err != nil {
			return err
		}
	}
	return nil
}

// rejectAddress rejects the intent of a client who is looked up by an address of another
// client, unless that one was certainly not created.
func (t *transaction) rejectAddress(e Event) error {
	if e.To != Intent {
		return nil
	}
	for _, address := range e.LookedUp {
		owners, err := addressOwners(context.Background(), t.conn, e.Environment, address)
		if err != nil {
			return err
		}
		for _, o := range owners {
			if o.ClientKey != e.ClientKey && o.State != Failed && o.State != NotSent && (o.LookedUp || o.InDoubt()) {
				return rejected{Taken{Step: e.StepID, Holder: StepID{ClientKey: o.ClientKey, Step: KindClient}, Address: true}}
			}
		}
	}
	return nil
}

// addressOwners returns the client who is looked up by an address, and the one who has it
// besides.
func addressOwners(ctx context.Context, db querier, environment, address string) (owners []AddressOwner, err error) {
	for _, as := range []string{"", also} {
		o := AddressOwner{ClientKey: ClientKey{Environment: environment}, LookedUp: as == ""}
		var state int64
		err := db.QueryRowContext(ctx, `SELECT c.space, c.client, s.state, coalesce((SELECT n.name FROM names n WHERE n.id = s.run), '') FROM environments e
			JOIN addresses a ON a.environment = e.id AND a.address = ?
			JOIN clients c ON c.id = a.client JOIN steps s ON s.client = c.id AND s.mapping = 0 AND s.step = 'client'
			WHERE e.name = ?`, hashAddress(as+address), environment).Scan(&o.Space, &o.Client, &state, &o.Run)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		o.State = word(states, state)
		owners = append(owners, o)
	}
	return owners, nil
}

// addAddress is the statement of own: states 3 and 4 are those of clients who do not exist.
const addAddress = `INSERT INTO addresses (environment, address, client) VALUES (?, ?, ?)
	ON CONFLICT (environment, address) DO UPDATE SET client = excluded.client WHERE NOT EXISTS
		(SELECT 1 FROM steps s WHERE s.client = addresses.client AND s.mapping = 0 AND s.step = 'client' AND s.state NOT IN (3, 4))`

// AddressOwners returns the clients of an environment who have some addresses, as
// Event.Addresses has them, by address.
func (l *Ledger) AddressOwners(ctx context.Context, environment string, addresses []string) (map[string][]AddressOwner, error) {
	owners := map[string][]AddressOwner{}
	for _, address := range addresses {
		found, err := addressOwners(ctx, l.read, environment, address)
		if err != nil {
			return nil, err
		}
		owners[address] = found
	}
	return owners, nil
}
