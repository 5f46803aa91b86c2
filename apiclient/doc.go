// Package apiclient is how we speak to the service: a Request goes in, an
// answer or a classified failure comes out. It knows no sheets and no mappings.
//
// Its parts, in the order in which a call meets them:
//
//	routes.go    the document's endpoints: what to send where
//	client.go    Do: one request, one answer
//	transport.go the small RoundTrippers and the connection that counts bytes
//	verdict.go   what an answer means: created, refused, not sent, uncertain
//	wire.go      JSON Pointers into answers, for what the document leaves open
//	find.go      look-ups and the learnt shape of "nobody"
//
// A POST is sent at most once by a call to Do, whatever happens: HTTP/1.1
// only, no replay (GetBody nil), no redirects, no retries. Only what is proved
// not to have been sent, or is refused by the service, is said to be so;
// everything else is uncertain, and deciding what to do then is not this
// package's business.
package apiclient
