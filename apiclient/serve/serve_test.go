package serve_test

import (
	"net"
	"testing"

	"claimsheet/apiclient/serve"
)

// hasIPv6 reports whether this machine has the loopback address of IPv6.
func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err == nil {
		l.Close()
	}
	return err == nil
}

// C-4 of docs/security.md.
func TestC4_ListensOnThisMachineOnly(t *testing.T) {
	for addr, ours := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true, "[::1]:0": hasIPv6(),
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "x": false, "192.0.2.1:0": false,
		"example.com:0": false, "example.com:80": false, "127.0.0.1": false, "": false,
		"localhost.example.com:0": false, "127.1:0": false,
	} {
		l, err := serve.Loopback("tcp", addr)
		if err == nil {
			l.Close()
		}
		if (err == nil) != ours {
			t.Errorf("Listen(%q): %v", addr, err)
		}
	}
	if l, err := serve.Loopback("tcp4", "[::1]:0"); err == nil {
		l.Close()
		t.Error("tcp4: a port of ::1")
	}
}
