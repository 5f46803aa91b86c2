package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"claimsheet/mapping/problem"
)

// Finding is something that Examine has tried. One that has not failed and has a hint is
// a warning.
type Finding struct {
	Failed bool
	Text   string
	Hint   string
}

// Examine tries whether a ledger can be kept at an address, and changes nothing.
func Examine(ctx context.Context, a Address) (found []Finding) {
	add := func(failed bool, hint, format string, args ...any) {
		found = append(found, Finding{failed, fmt.Sprintf(format, args...), hint})
	}
	conn := a.connections(true)
	defer conn.Close()
	s, err := a.settings(ctx, conn)
	if err != nil {
		add(true, "See that the server runs and can be reached from here, and that the user and the password in the url are right.", "%s: %v",
			a, problem.Cause(withoutValues(err)))
		return found
	}
	add(false, "", "%s: PostgreSQL %s answers", a, s.VersionName)
	if why := a.unprotected(); why != "" {
		add(false, "Add sslmode=verify-full to the url, and sslrootcert=FILE where the server's certificate is not from a public authority.", "%s", why)
	}
	if why, hint := s.unfit(); why != "" {
		add(true, hint, "%s", why)
	}
	if s.Fsync != "on" {
		add(false, "Set fsync = on on the server.", "fsync is %s: a power loss can lose what was recorded, and then it is created twice", s.Fsync)
	}
	if s.SynchronousCommit != "on" {
		add(false, "", "synchronous_commit is %s by default; a run sets it to on for itself", s.SynchronousCommit)
	}
	switch version, err := a.version(ctx, conn); {
	case err != nil:
		p, _ := errors.AsType[problem.Problem](a.refused(err))
		add(true, p.Hint, "%v", p)
	case version > 0:
		add(false, "", "schema version %d", version)
	default:
		add(false, "", "there is no ledger yet; the first run makes it")
	}
	return found
}

// unprotected says how others could read what goes to the server over a network, by the url;
// "" when they could not.
func (a Address) unprotected() string {
	attempts := []*pgconn.FallbackConfig{{Host: a.config.Host, TLSConfig: a.config.TLSConfig}}
	unverified := ""
	for _, f := range append(attempts, a.config.Fallbacks...) {
		if ip := net.ParseIP(f.Host); strings.HasPrefix(f.Host, "/") || f.Host == "localhost" || ip != nil && ip.IsLoopback() {
			continue
		}
		switch {
		case f.TLSConfig == nil:
			return "the connection may be unencrypted: clients' data and the password of the ledger's user can be read on the network"
		case f.TLSConfig.InsecureSkipVerify && f.TLSConfig.VerifyPeerCertificate == nil: // sslmode=require
			unverified = "the connection is encrypted, but the server's certificate is not verified: another server can take its place"
		}
	}
	return unverified
}
