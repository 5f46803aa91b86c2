//go:build !unix

package apiclient_test

import "testing"

// fullQueue needs a listener with a short queue.
func fullQueue(t *testing.T) (address string) {
	t.Helper()
	t.Skip("the queue of waiting connections cannot be made short on this system")
	return ""
}

// refusing needs a bound socket that does not listen.
func refusing(t *testing.T) (address string) {
	t.Skip("needs a socket that is bound and does not listen")
	return ""
}
