//go:build unix

package apiclient_test

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// fullQueue returns an address that silently accepts no connection: its listener
// never accepts, and waiting connections fill its queue.
func fullQueue(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { listener.Close() })
	l := listener.(*net.TCPListener)
	raw, err := l.SyscallConn()
	noError(t, err)
	noError(t, raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) }))
	noError(t, err)
	for range 8 {
		conn, err := net.DialTimeout("tcp", l.Addr().String(), 200*time.Millisecond)
		if err != nil {
			return l.Addr().String()
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Skip("this system's queue of waiting connections cannot be filled")
	return ""
}

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
