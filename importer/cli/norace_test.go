//go:build !race

package cli_test

// underRace reports whether the tests run under the race detector.
const underRace = false
