//go:build !race

package ledger_test

const racing = false
