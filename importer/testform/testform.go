// Package testform has what the tests of several packages share: a short form, which go test
// ./... runs in a minute, and a long one, for which .ci/run gives -long; and the comparison of
// pages of the documentation with the key tables by which files are read.
package testform

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping/problem"
)

// Long asks for the long form.
var Long = flag.Bool("long", false, "run the long tests too, and the long form of the others; .ci/run does")

// OnlyLong leaves a test out of the short form.
func OnlyLong(t testing.TB) {
	t.Helper()
	if !*Long {
		t.Skip("only with -long")
	}
}

// LongOr returns how much of something a test does, in the long form and in the short one.
func LongOr[T any](inLong, inShort T) T {
	if *Long {
		return inLong
	}
	return inShort
}

// NoError ends a test that an error makes pointless.
func NoError(t interface {
	Helper()
	Fatal(args ...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Code is the code of the problem that an error must be, said in one line; "" for no error.
func Code(t testing.TB, err error) string {
	t.Helper()
	p, ok := errors.AsType[problem.Problem](err)
	if err != nil && (!ok || strings.Contains(p.Error(), "\n")) {
		t.Errorf("%T is no problem, or has several lines: %v", err, err)
	}
	return p.Code
}

// Same expects that two values are equal. what says which they are.
func Same(t interface {
	Helper()
	Errorf(format string, args ...any)
}, what string, want, got any, options ...cmp.Option,
) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Run runs the tests of a package, for its TestMain. In the short form, rapid checks a
// property with fewer values, unless -rapid.checks says how many. Temporary files are in
// memory where there is room and TMPDIR does not say where else: every sync of a real disk
// costs processor time and a wait.
func Run(m interface{ Run() int }) int {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && !*Long && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("10"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if memory := inMemory(); memory != "" && os.Getenv("TMPDIR") == "" {
		files, err := os.MkdirTemp(memory, "claimsheet-tests-*")
		if err == nil {
			defer os.RemoveAll(files)
			err = os.Setenv("TMPDIR", files)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
