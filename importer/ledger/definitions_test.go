package ledger_test

import (
	"errors"
	"testing"

	"claimsheet/importer/ledger"
)

func TestDefinitionIsTheLastOneSet(t *testing.T) {
	path := t.TempDir() + "/ledger.db"
	l := open(t, path)
	do(t, l.SetDefinition("https://uat", "loans", `{"key":["A"]}`))
	do(t, l.SetDefinition("https://uat", "loans", `{"key":["B"]}`))
	do(t, l.SetDefinition("https://live", "loans", `{"key":["C"]}`))
	do(t, l.Close())
	r, err := ledger.OpenReadOnly(path)
	do(t, err)
	defer r.Close()
	for _, test := range []struct{ environment, mapping, want string }{
		{"https://uat", "loans", `{"key":["B"]}`},
		{"https://live", "loans", `{"key":["C"]}`},
		{"https://uat", "cards", ""},
		{"https://test", "loans", ""},
	} {
		got, ok, err := r.Definition(t.Context(), test.environment, test.mapping)
		do(t, err)
		same(t, test.environment+" "+test.mapping, got, test.want)
		same(t, test.environment+" "+test.mapping+" known", ok, test.want != "")
	}
	if err := r.SetDefinition("https://uat", "loans", "{}"); !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
}
