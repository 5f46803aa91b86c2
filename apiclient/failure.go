package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Failure is why there is no answer, or none that can be used. It is the only
// error of Client's calls that send something.
type Failure struct {
	// NotSent is set when it is proved that not one byte of the request left
	// this machine (or that no server took it): sending it again is safe.
	NotSent bool
	// Stop is set when no other request will fare better: a refused
	// authentication, a redirect or a certificate that is not trusted.
	Stop bool
	// Busy is set on the answer to a GET by which the service asks for time,
	// RetryAfter is for how long, 0 when it does not say; and on a request that was
	// not sent because the service has asked for time. The Client holds all its
	// requests back until then.
	Busy       bool
	RetryAfter time.Duration
	// Again is set when the next attempt may well fare better: there was no whole
	// answer, or one that tells of trouble at the service. It is for GETs, which
	// may be sent again; of a POST, NotSent and Effect decide.
	Again bool
	// Status is that of the answer to a GET that refused it, 0 where there was
	// none.
	Status int
	// Hint is what to do, from a Rule or for what is usually the cause; may be
	// empty.
	Hint string
	// Reason is one line in our own words, without urls, addresses, personal
	// data and credentials. It is safe to log.
	Reason string
	// Err is the cause, for errors.Is and errors.As only: its text may hold
	// anything.
	Err error
}

// Error is the Reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// asking is a failure with the name of the request that had it, where not every
// request would have had it.
func asking(what string, err error) error {
	f, ok := errors.AsType[*Failure](err)
	if !ok || f.NotSent || f.Stop {
		return err
	}
	named := *f
	named.Reason = what + ": " + f.Reason
	return &named
}

// unsent is a failure before the request was given to the network.
func unsent(reason string, err error) *Failure {
	return &Failure{NotSent: true, Reason: reason, Err: err}
}

// classify puts an error of the transport into our own words. notSent is what
// the evidence says.
func classify(err error, notSent bool) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	f := &Failure{NotSent: notSent, Err: err}
	switch {
	case untrusted(err):
		f.NotSent, f.Stop, f.Reason = true, true, "the service's certificate is not trusted"
		f.Hint = certificateHint(err)
	case notSent && outdatedTLS(err):
		f.Stop, f.Reason = true, "the service speaks no TLS of version 1.2 or later"
		f.Hint = "older versions are not safe: the service's operator must offer TLS 1.2 or 1.3"
	case refusedHandshake(err, notSent):
		f.NotSent, f.Stop, f.Reason = true, true, "the service refuses the TLS handshake: a client certificate is missing or not accepted"
	default:
		f.Reason, f.Again = describe(err, notSent), !errors.Is(err, context.Canceled)
	}
	return f
}

// describe names the kind of an error; the error's own text is not used,
// because net and net/http put addresses and urls into it.
func describe(err error, notSent bool) string {
	var timeout net.Error
	isTimeout := errors.As(err, &timeout) && timeout.Timeout()
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, context.Canceled) && notSent:
		return "stopped before it was sent"
	case errors.Is(err, context.Canceled):
		return "stopped while waiting for the answer"
	case isDNS:
		return "the service's host name cannot be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the service refuses the connection"
	case isTLS:
		return "the service does not speak TLS at this address"
	case isTimeout && notSent:
		return "no connection to the service within the time allowed"
	case isTimeout:
		return "no answer within the time allowed"
	case notSent:
		return "the connection failed before the request was sent"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was closed before the answer was complete"
	}
	return "the answer could not be read as HTTP"
}

// untrusted tells whether we refused the service's certificate: the handshake
// was not finished, so no request was sent.
func untrusted(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return verification || authority || host || invalid
}

// outdatedTLS tells whether the two sides have no version of TLS in common.
// (Neither error has a type of its own: their texts are all there is.)
func outdatedTLS(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return op.Err.Error() == "tls: protocol version not supported"
	}
	return strings.HasPrefix(err.Error(), "tls: server selected unsupported protocol version")
}

// certificateAlerts are the alerts by which a server refuses our certificate.
// Under TLS 1.3 they may arrive after our first bytes, yet they end the
// handshake: a server that sends one never gave those bytes to an application
// (the client offers neither early data nor post-handshake authentication).
var certificateAlerts = []string{
	"tls: bad certificate", "tls: unsupported certificate", "tls: revoked certificate",
	"tls: expired certificate", "tls: unknown certificate", "tls: unknown certificate authority",
	"tls: certificate required",
}

// refusedHandshake tells whether the server ended the handshake because of our
// certificate. Under TLS 1.2 the alert is often just a handshake failure,
// which proves nothing once bytes were sent. (The alerts have no exported type:
// their text is all there is.)
func refusedHandshake(err error, notSent bool) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		return false
	}
	alert := op.Err.Error()
	return slices.Contains(certificateAlerts, alert) || notSent && alert == "tls: handshake failure"
}
