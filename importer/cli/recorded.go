package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// fromLedger sets the mapping and the environment that a rerun is not given to
// those of the run that wrote its workbook, as the ledger recorded them. What
// the workbook says is not used: anybody can write a workbook, and the
// environments file beside a mapping runs programs.
func (o *runOptions) fromLedger(ctx context.Context, envGiven bool) error {
	if o.mapping != "" && envGiven {
		return nil
	}
	state := o.recordsIn()
	for _, folder := range []string{state, filepath.Join(state, "sandbox")} {
		run, known, err := recordedRun(ctx, folder, o.origins[0].property[runProperty])
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if !envGiven {
			o.env = run.EnvironmentName
		}
		if o.mapping == "" {
			o.mapping, o.state = run.MappingFile, state
		}
		return o.recordedMapping()
	}
	if o.mapping != "" {
		return nil
	}
	return problem.At(problem.Where{File: o.origins[0].path}, "no-mapping", "no ledger in %s knows the run that wrote the workbook, so its mapping must be named", state).
		Hinted("give the file of the mapping “%s”, or change to the folder whose .claimsheet has the run: %s",
			o.origins[0].property[mappingProperty], o.withMapping("mapping.yaml"))
}

// recordsIn is the state folder in which a rerun looks its run up: that of
// --state, else that beside the environments file or the mapping if one is
// named, else that of the working directory. The workbook's own folder is no such
// place: a ledger can come along with a workbook.
func (w place) recordsIn() string {
	if w.mapping == "" && w.environments == "" && w.state == "" {
		return environment.StateDir("mapping.yaml", "", "") // in the working directory
	}
	path, _ := environment.Find(w.mapping, w.environments)
	return environment.StateDir(w.mapping, path, w.state)
}

// recordedRun is a run of the ledger in a state folder.
func recordedRun(ctx context.Context, state, id string) (run ledger.Run, known bool, err error) {
	path := ledgerFile(state)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || id == "" {
		return ledger.Run{}, false, nil
	}
	if err := refuseShared(state); err != nil {
		return ledger.Run{}, false, err
	}
	records, err := ledger.OpenReadOnly(path)
	if err != nil {
		return ledger.Run{}, false, err
	}
	defer records.Close()
	return records.Run(ctx, id)
}

// recordedMapping refuses a mapping that is no longer where it was.
func (o *runOptions) recordedMapping() error {
	if info, err := os.Stat(o.mapping); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return problem.At(problem.Where{File: o.origins[0].path}, "no-mapping", "the mapping file of the run that wrote the workbook, %s, is not there", o.mapping).
		Hinted("name the file in which the mapping “%s” is now: %s", o.origins[0].property[mappingProperty], o.withMapping("mapping.yaml"))
}

// withMapping is the command as it was given, and with a mapping.
func (o *runOptions) withMapping(path string) string {
	named := *o
	named.mapping = path
	words := named.command()
	if o.dryRun {
		words = slices.Insert(words, 4, "--dry-run")
	}
	if o.yes {
		words = slices.Insert(words, 4, "--yes")
	}
	return reports.CommandLine(words)
}
