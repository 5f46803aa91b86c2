// Package apitest is a test double of the claims intake service that knows the
// truth: what was really created, how often, and in what order it was asked
// for. It is written from the service's interface document alone and shares no
// code with the embedded sandbox, so that the two cannot share a mistake.
//
//	oracle.go    the server: routes, and the record of every call
//	create.go    what a creating call makes, or why it breaks the document's rules
//	activity.go  the activity payload of both versions
//	answer.go    answers in the shapes that the document leaves open
//	fault.go     what may go wrong with a call, played by a script
//	check.go     what was created against what a results workbook says
//
// A call that breaks the document's rules is refused and kept as a complaint:
// a test is to fail on any.
package apitest
