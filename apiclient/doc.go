// Package apiclient talks to the claims intake service: a Request goes in, an
// answer or a classified failure comes out. It knows no sheets, no mappings and
// no ledger.
//
// Its promise is about POST requests, because the service has no idempotency
// keys: one call of Client.Create sends the request at most once. The client
// speaks HTTP/1.1 only, follows no redirect, retries nothing and gives net/http
// no reason to retry. The one exception is an answer 401, which proves that the
// request was not processed: the request is sent again after the token has been
// renewed.
//
// A Verdict says "not sent" or "refused" only where that is proved. Everything
// else is uncertain, and what to do then is decided outside this package.
package apiclient
