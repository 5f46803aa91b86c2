package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// The formats in which results are written.
const (
	formatXLSX = "xlsx"
	formatCSV  = "csv"
)

// settleFormat finds the format of the results: the one that is given, else the
// one that the name given with -o ends in. A plan is always a workbook.
func (o *runOptions) settleFormat() error {
	named := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	switch {
	case !slices.Contains([]string{"", formatXLSX, formatCSV}, o.format):
		return problem.New("usage", "--format must be xlsx or csv").Hinted("leave it out to have a workbook")
	case o.format == "" && named == formatCSV:
		o.format = formatCSV
	case o.format == "":
		o.format = formatXLSX
	case o.format != named && (named == formatXLSX || named == formatCSV):
		return problem.New("usage", "--format %s and -o FILE.%s contradict each other", o.format, named).Hinted("leave one of them out")
	}
	if o.dryRun && o.format == formatCSV {
		return problem.New("usage", "the plan of a dry run is a workbook: marks, comments and calls have no place in a CSV file").
			Hinted("leave --format out, and let the name given with -o end in .xlsx")
	}
	return nil
}
