package spool_test

import (
	"os"
	"testing"

	"claimsheet/importer/testform"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var (
	must = testform.NoError
	same = testform.Same
)
