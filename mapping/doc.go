// Package mapping gives the rows of a sheet their meaning. It reads a mapping
// file, binds its names to the columns of a sheet and the templates of a service,
// converts the sheet's records and makes a plan for each client.
//
//	file ──Parse──▶ Mapping ──Bind──▶ Binding ──Convert──▶ ConvertedRow ──Plan──▶ Plan
//	                            ▲                  ▲
//	                sheet, service             record
//
// Names become ids here and nowhere else. A mapping holds no ids, because ids
// belong to one environment and one claim type (service document, "What the
// service does").
//
// The package is pure: no network, no clock, no disk, no randomness; the date of
// the run is passed in. What is wrong is a problem.Problem with its place. A row
// that cannot be sent is data, not an error.
package mapping
