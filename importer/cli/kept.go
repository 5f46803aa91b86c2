package cli

import (
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// sayKept says that an edited workbook was in the place of the new one, where it
// is now, and whether anybody has used what was written into it.
func (p *program) sayKept(e *running, part *part, written reports.Written) error {
	if written.Aside == "" {
		return nil
	}
	digest, err := reports.DigestOf(written.Aside)
	if err != nil {
		return err
	}
	again := reports.CommandLine(append(e.options.words("rerun"), written.Aside))
	kept := keptAside(part.target.path, written.Aside, again)
	switch {
	case digest == part.source.input.digest:
		kept.Hint = "the corrections in it were used in this run"
	case part.target.format == formatCSV:
		kept.Hint = "nothing was taken from it: a CSV file is for reading"
	}
	sayProblems(p.Err, problem.List{kept})
	return nil
}

// keptAside says where an edited workbook is kept; again is the command that uses
// it.
func keptAside(path, aside, again string) problem.Problem {
	return problem.At(problem.Where{File: path}, "output-edited", "is not as the last run wrote it; what was here is kept as %s", aside).
		Hinted("corrections made in it are not in the new workbook; to use them: %s", again)
}
