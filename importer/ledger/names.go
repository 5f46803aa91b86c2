package ledger

import (
	"context"
	"sync"
)

// names are the texts behind numbers in the ledger: environments and names, of which
// there are few. A number keeps its text for ever, so what was read once stays right.
// It is safe for concurrent use.
type names struct {
	db           querier
	mu           sync.RWMutex
	environments map[int64]string
	others       map[int64]string
}

func newNames(db querier) *names {
	return &names{db: db, environments: map[int64]string{}, others: map[int64]string{0: ""}}
}

// environment is the name of an environment.
func (n *names) environment(id int64) (string, error) {
	return n.text(n.environments, `SELECT name FROM environments WHERE id = ?`, id)
}

// name is the text of one of the names; "" for 0.
func (n *names) name(id int64) (string, error) {
	return n.text(n.others, `SELECT name FROM names WHERE id = ?`, id)
}

func (n *names) text(known map[int64]string, query string, id int64) (string, error) {
	n.mu.RLock()
	text, ok := known[id]
	n.mu.RUnlock()
	if ok {
		return text, nil
	}
	if err := n.db.QueryRowContext(context.Background(), query, id).Scan(&text); err != nil {
		return "", err
	}
	n.mu.Lock()
	known[id] = text
	n.mu.Unlock()
	return text, nil
}

// interned are the numbers of texts and clients that the writer has used, so that it
// does not look them up again.
type interned struct {
	environments map[string]int64
	names        map[string]int64
	clients      map[ClientKey]clientNumber
	runs         map[string]int64      // those that were started
	claims       map[claimMapping]bool // what claim_mappings has
}

// claimMapping is an environment's number and the name of a mapping.
type claimMapping struct {
	environment int64
	mapping     string
}

// clientNumber is the number of a client and of its environment.
type clientNumber struct{ client, environment int64 }

// mostClients bounds the clients that interned keeps.
const mostClients = 10_000

// forget drops everything: a transaction that may have added some of it was rolled
// back.
func (n *interned) forget() {
	*n = interned{map[string]int64{}, map[string]int64{"": 0}, map[ClientKey]clientNumber{}, map[string]int64{}, map[claimMapping]bool{}}
}

// keep keeps the number of a client. When there are too many it drops all others:
// those that are needed again are few.
func (n *interned) keep(key ClientKey, number clientNumber) {
	if len(n.clients) >= mostClients {
		clear(n.clients)
	}
	n.clients[key] = number
}

// environment returns the number of an environment, and adds it when it is unknown.
func (t *transaction) environment(name string) (int64, error) {
	return t.number(t.interned.environments, name, `SELECT id FROM environments WHERE name = ?`, `INSERT INTO environments (name) VALUES (?) RETURNING id`)
}

// name returns the number of a name, and adds it when it is unknown.
func (t *transaction) name(name string) (int64, error) {
	return t.number(t.interned.names, name, `SELECT id FROM names WHERE name = ?`, `INSERT INTO names (name) VALUES (?) RETURNING id`)
}

func (t *transaction) number(known map[string]int64, name, find, add string) (id int64, err error) {
	if id, ok := known[name]; ok {
		return id, nil
	}
	ok, err := found(t.conn.QueryRowContext(context.Background(), find, name).Scan(&id))
	if err == nil && !ok {
		err = t.conn.QueryRowContext(context.Background(), add, name).Scan(&id)
	}
	if err == nil {
		known[name] = id
	}
	return id, err
}

// client returns the number of a client, and adds it when it is unknown.
func (t *transaction) client(key ClientKey) (clientNumber, error) {
	n, ok, err := t.findClient(key)
	if ok || err != nil {
		return n, err
	}
	if n.environment, err = t.environment(key.Environment); err != nil {
		return n, err
	}
	if n.client, _, err = t.insert(t.addClient, n.environment, key.Client, key.Space); err == nil {
		t.interned.keep(key, n)
	}
	return n, err
}

// findClient returns the number of a client; ok is false when it is unknown.
func (t *transaction) findClient(key ClientKey) (n clientNumber, ok bool, err error) {
	if n, ok := t.interned.clients[key]; ok {
		return n, true, nil
	}
	c, ok, err := t.getClient.first(key.Environment, key.Client, key.Space)
	if !ok || err != nil {
		return n, false, err
	}
	if n = (clientNumber{c.number(), c.number()}); c.err == nil {
		t.interned.keep(key, n)
	}
	return n, true, c.err
}
