// Package mapping is what a row means: it reads the mapping file, binds its
// names to a sheet's columns and a service's templates, and turns the records
// of a sheet into plans.
//
//	YAML ──Parse──▶ Mapping ──Bind──▶ Binding ──Read──▶ Lead ──Plan──▶ Plan
//	                           ▲                 ▲
//	              columns, templates          Record
//
// The package is pure: no network, no clock, no disk, no randomness. What
// depends on the day (the run's date) is passed in. Everything that it finds
// wrong is a problem.Problem with a place; a row that cannot be sent is data,
// not an error.
//
// Draft makes a first mapping from headers and templates, and Schema tells
// editors the language.
//
// Names are bound to ids here and nowhere else; ids never stand in a mapping,
// because they belong to one environment and one claim type (service
// document, "What the service does").
package mapping
