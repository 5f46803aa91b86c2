package postgres

import "time"

// WithPatience is the address with another time to wait for the server.
func (a Address) WithPatience(d time.Duration) Address {
	a.patience = d
	return a
}

// WithoutValues is withoutValues.
func WithoutValues(err error) error { return withoutValues(err) }

// Unprotected is Address.unprotected.
func Unprotected(a Address) string { return a.unprotected() }
