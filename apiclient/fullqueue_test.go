//go:build unix

package apiclient_test

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// fullQueue is an address that takes no further connection and says nothing:
// its listener never accepts, and those that wait fill its queue.
func fullQueue(t *testing.T) (address string) {
	t.Helper()
	l := listen(t).(*net.TCPListener)
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
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
