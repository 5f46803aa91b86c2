//go:build race

package cli_test

// underRace tells that the tests run under the race detector.
const underRace = true
