package ledger_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"claimsheet/importer/ledger"
)

// store is a kind of store: the file, or the database server. Both keep the promises that follow.
// What concerns the files of one (damage, crashes, a full disk) is tested beside it. A place names
// a ledger; dir is a folder of the test's own.
type store struct {
	Open         func(dir, place string) (*ledger.Ledger, error) // creates it when it is missing
	OpenReadOnly func(dir, place string) (*ledger.Ledger, error)
}

func TestStore(t *testing.T) {
	t.Parallel()
	path := func(dir, place string) string { return filepath.Join(dir, place, "ledger.db") }
	store{
		Open:         func(dir, place string) (*ledger.Ledger, error) { return ledger.Open(path(dir, place)) },
		OpenReadOnly: func(dir, place string) (*ledger.Ledger, error) { return ledger.OpenReadOnly(path(dir, place)) },
	}.test(t)
}

// test holds a store to what all promise, which its exported methods say.
func (s store) test(t *testing.T) {
	promises := reflect.ValueOf(s)
	for i := range promises.NumMethod() {
		t.Run(promises.Type().Method(i).Name, func(t *testing.T) {
			t.Parallel()
			promises.Method(i).Interface().(func(*testing.T))(t)
		})
	}
}

// open opens the store at a place, and closes it when the test ends.
func (s store) open(t testing.TB, dir, place string) *ledger.Ledger {
	t.Helper()
	store := must(s.Open(dir, place))(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// fresh is a store with these events.
func (s store) fresh(t testing.TB, events ...ledger.Event) *ledger.Ledger {
	t.Helper()
	l := s.open(t, t.TempDir(), "fresh")
	do(t, l.Append(events...))
	return l
}
