// Package environment reads environments.yaml, resolves the secrets that it
// refers to, and makes the apiclient.Config of an environment.
//
//	file ──Load──▶ File ──Choose──▶ Environment ──ForClaimType──▶ Environment ──Config──▶ apiclient.Config
//
// Load reports everything that is wrong with the file at once, as
// problem.Problem values with places, and touches neither the secrets nor the
// files that the file names. Config does that, so that a file with ten
// environments can be used by someone who holds the secrets of one.
//
// A secret is never written in the file: it is a reference (env:NAME,
// file:PATH or cmd:PROGRAM ARG…). Resolved secrets live in Secret, which no
// formatter prints, and leave it only on the way into a request. Webhook
// resolves the url of a notice in the same way.
//
// Template ids, case ids and workflow identifiers stand here and not in
// mappings because they belong to one environment and one claim type (service
// document, "What the service does").
package environment
