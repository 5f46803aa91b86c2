// Package apiclient is how we speak to the service: a Request goes in, an
// answer or a classified failure comes out. It knows no sheets and no mappings.
//
// Its parts, in the order in which a call meets them:
//
//	routes.go    the document's endpoints: what to send where
//	path.go      urls that cannot leave the base url
//	client.go    Do: one request, one answer
//	chain.go     the small RoundTrippers, in the order in which they act
//	pace.go      the line in which requests wait; turn.go a place at its head
//	transport.go the connection to the service, and evidence.go what it proves
//	failure.go   what went wrong, in words that hold no personal data
//	verdict.go   what an answer means: created, refused, not sent, uncertain
//	wire.go      where answers carry what the document leaves open
//	redact.go    what of an answer may be shown and kept
//	unknown.go   answers that nobody has explained yet
//	find.go      look-ups, and absent.go the learnt shape of "nobody"
//	templates.go the reference data
//	examine.go   is all well? for claimsheet doctor
//
// A POST is sent at most once by a call to Do, whatever happens: HTTP/1.1
// only, no replay (GetBody nil), no redirects, no retries; but for the 401 after
// which a token is renewed, because that was surely not processed. Only what is proved
// not to have been sent, or is refused by the service, is said to be so;
// everything else is uncertain, and deciding what to do then is not this
// package's business.
package apiclient
