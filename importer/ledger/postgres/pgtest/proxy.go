//go:build linux

package pgtest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"testing"
)

// URLByTCP is the url of the ledger in a schema by another way to the server: over TCP on loopback, until the test ends.
func (s *Server) URLByTCP(t testing.TB, schema string) string {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(s.sockets, ".s.PGSQL.5432"))
			if err != nil { // it is stopped
				_ = conn.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{server, conn}, {conn, server}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					_ = errors.Join(way[0].Close(), way[1].Close())
				}()
			}
		}
	}()
	return "postgres://postgres@" + listener.Addr().String() + "/postgres?" + url.Values{"sslmode": {"disable"}, "search_path": {schema}}.Encode()
}
