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

// Failure is the reason why there is no answer, or no usable one. Every error of
// a Client method that sends something is a *Failure.
type Failure struct {
	NotSent    bool          // it is proved that no byte left this machine, or that no server accepted it: sending again is safe
	Stop       bool          // no other request will do better: refused credentials, a redirect, a certificate that is not trusted
	Retry      Retry         // whether a GET is worth sending again; for a POST only NotSent and the Verdict's Effect count
	RetryAfter time.Duration // how long the service asks to wait; 0 when it does not say
	Status     int           // of the answer that refused a GET; 0 for no answer
	Hint       string        // what to do, from a Rule or for the usual cause; may be empty
	Reason     string        // one line in our own words, without urls, addresses, personal data and credentials: safe to log
	Err        error         // the cause, for errors.Is and errors.As only: its text may hold anything
}

// Error returns the Reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// during adds the name of the request to a failure. Failures that every request
// would have had (not sent, Stop) are returned unchanged.
func during(what string, err error) error {
	f, ok := errors.AsType[*Failure](err)
	if !ok || f.NotSent || f.Stop {
		return err
	}
	named := *f
	named.Reason = what + ": " + f.Reason
	return &named
}

// StoppedBefore is the Reason of a request that did not leave because its context was done.
const StoppedBefore = "stopped before it was sent"

// unsent returns a failure before the request was given to the network.
func unsent(reason string, err error) *Failure {
	return &Failure{NotSent: true, Reason: reason, Err: err}
}

// failureOf turns an error of the transport into a Failure in our own words. notSent is what the evidence proves. It
// does not use the error's own text, because net and net/http put addresses and urls into it.
func failureOf(err error, notSent bool) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	peer := "service"
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "proxyconnect" || notSent && op.Op == "read" && op.Timeout()) {
		peer = "proxy" // only the wait for its answer has a deadline
	}
	f := &Failure{NotSent: notSent, Retry: Now, Err: err}
	stop := func(reason, hint string) { f.Stop, f.Retry, f.Reason, f.Hint = true, Never, reason, hint }
	var timeout net.Error
	isTimeout := errors.As(err, &timeout) && timeout.Timeout()
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isTLS := errors.AsType[tls.RecordHeaderError](err)
	_, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isUntrusted: // before the end of the handshake
		f.NotSent = true
		stop("the service's certificate is not trusted", certificateHint(err))
	case notSent && outdatedTLS(err):
		stop("the service does not support TLS 1.2 or later", "older versions are not safe: ask the service's operator for TLS 1.2 or 1.3")
	case refusedHandshake(err, notSent):
		f.NotSent = true
		stop("the service refuses the TLS handshake: a client certificate is missing or not accepted", "")
	case errors.Is(err, context.Canceled) && notSent:
		f.Retry, f.Reason = Never, StoppedBefore
	case errors.Is(err, context.Canceled):
		f.Retry, f.Reason = Never, "stopped while waiting for the answer"
	case isDNS:
		f.Reason = "the " + peer + "'s host name cannot be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Reason = "the " + peer + " refuses the connection"
	case isTLS:
		f.Reason = "the " + peer + " does not speak TLS at this address"
	case isTimeout && notSent:
		f.Reason = "no connection to the " + peer + " within the time allowed"
	case isTimeout:
		f.Reason = "no answer within the time allowed"
	case notSent:
		f.Reason = "the connection failed before the request was sent"
	case closed(err):
		f.Reason = "the connection was closed before the answer was complete"
	default:
		f.Reason = "the answer could not be read as HTTP"
	}
	return f
}

// closed reports whether err means that the other side closed the connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// outdatedTLS reports whether the two sides have no version of TLS in common.
// (Neither error has its own type, so the texts are compared.)
func outdatedTLS(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return op.Err.Error() == "tls: protocol version not supported"
	}
	return strings.HasPrefix(err.Error(), "tls: server selected unsupported protocol version")
}

// refusedHandshake reports whether the server ended the handshake because of our certificate. In TLS 1.3 that alert may
// arrive after our first bytes, which the server did not pass to an application, because the client offers neither early
// data nor post-handshake authentication. In TLS 1.2 the alert is often only "handshake failure", which proves nothing
// once bytes were sent. (The alerts have no exported type, so the texts are compared.)
func refusedHandshake(err error, notSent bool) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" &&
		(strings.Contains(op.Err.Error(), "certificate") || notSent && op.Err.Error() == "tls: handshake failure")
}

// certificateHint says what is wrong with the service's certificate and who can fix it. The library's
// text names hosts and times of the certificate, which are public.
func certificateHint(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "no authority that this machine trusts has signed it: if the service has a private authority, give its certificate as tls.ca"
	}
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is for " + certificateNames(host.Certificate) + ": check the host in base_url"
	}
	hint := "check the host in base_url and this machine's clock; if both are right, ask the service's operator for a valid certificate"
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return printable(strings.TrimPrefix(verification.Err.Error(), "x509: ")) + ": " + hint
	}
	return hint
}

// certificateNames lists the hosts that a certificate is for, on one line.
func certificateNames(cert *x509.Certificate) string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	return printable(strings.Join(names, ", "))
}
