// Package apiclient is how we speak to the service: a Request goes in, an
// answer or a classified failure comes out. It knows no sheets and no mappings.
//
// Its parts, in the order in which a call meets them:
//
//	routes.go    the document's endpoints: what to send where
//	path.go      urls that cannot leave the base url
//	client.go    Do: one request, one answer
//	chain.go     the small RoundTrippers, in the order in which they act
//	transport.go the connection to the service, and evidence.go what it proves
//	failure.go   what went wrong, in words that hold no personal data
//	verdict.go   what an answer means: created, refused, not sent, uncertain
//	wire.go      where answers carry what the document leaves open
//	find.go      look-ups, and absent.go the learnt shape of "nobody"
//	templates.go the reference data
//
// A POST is sent at most once by a call to Do, whatever happens: HTTP/1.1
// only, no replay (GetBody nil), no redirects, no retries. Only what is proved
// not to have been sent, or is refused by the service, is said to be so;
// everything else is uncertain, and deciding what to do then is not this
// package's business.
package apiclient
