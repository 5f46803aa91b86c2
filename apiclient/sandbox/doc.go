// Package sandbox is the claims intake service, embedded: an http.Handler that
// behaves as the service document describes, for trying mappings out and for
// tests. It knows nothing of the client that speaks to it.
//
//	routes.go     the document's endpoints as one table
//	answer.go     what goes back: an answer, or a refusal that says why
//	body.go       the request's body, taken apart strictly
//	object.go     one JSON object, whose fields are asked for by name
//	clients.go    v1 clients and v2 contacts
//	lookups.go    who has that e-mail or phone number?
//	claims.go     v2 claims
//	activities.go activities of both versions
//	attributes.go their attributes, checked against the reference data
//	links.go      magic links, and where a redirect url leads
//	reference.go  the activity templates
//	service.go    the Service that all this belongs to
//	state.go      what it holds; snapshot.go shows it as plain data
//	journal.go    the same, kept in a file
//	serve.go      the service on a loopback address
//
// Strict means that it refuses whatever the document does not describe, so
// that a mistake is found here and not in a live environment. Where the
// document shows nothing (names of identifiers in answers, error bodies, limits)
// the sandbox has to choose something; a client must not take its choices for
// the live service's.
//
// A refusal is {"error":{"code":"…","message":"…","field":"…"}}: a stable code,
// what is wrong and what was expected, and the field, parameter or header that
// it is about. Refusals never repeat a value that was sent, because it may be
// personal data; they do name fields and ids.
package sandbox
