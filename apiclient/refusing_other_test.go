//go:build !unix

package apiclient_test

import "testing"

// refusing needs a bound socket that does not listen.
func refusing(t *testing.T) (address string) {
	t.Skip("needs a socket that is bound and does not listen")
	return ""
}
