package serve_test

import (
	"testing"

	"claimsheet/apiclient/serve"
)

// C-4 of docs/security.md.
func TestC4_ListensOnThisMachineOnly(t *testing.T) {
	for addr, ours := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true,
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "[::1]:0": false, "x": false, "192.0.2.1:0": false, "example.com:0": false, "example.com:80": false, "127.0.0.1": false, "": false,
		"localhost.example.com:0": false, "127.1:0": false,
	} {
		l, err := serve.Loopback(addr)
		if err == nil {
			l.Close()
		}
		if (err == nil) != ours {
			t.Errorf("Listen(%q): %v", addr, err)
		}
	}
}
