//go:build unix

package apiclient_test

import (
	"net"
	"strconv"
	"syscall"
	"testing"
)

// refusing returns an address that refuses connections. A socket that does not
// listen holds it, so that no other test gets it.
func refusing(t *testing.T) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	noError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	noError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, err := syscall.Getsockname(fd)
	noError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(bound.(*syscall.SockaddrInet4).Port))
}
