//go:build race

package ledger_test

// racing tells that the race detector is on: SQLite then takes twenty times as
// long, and tests of damage look at fewer places.
const racing = true
