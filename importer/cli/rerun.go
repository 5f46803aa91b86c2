package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/rerun"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const rerunHelp = `It takes corrected cells from the workbook, sends what is still missing, and writes the workbook again. Done steps are not
repeated, wherever their rows are. Run several workbooks again one after the other.

Examples:

    claimsheet rerun leads.results.xlsx
    claimsheet rerun -m mapping.yaml -e uat --dry-run leads.results.xlsx`

func (p *program) rerunCommand() *cli.Command {
	o := &runOptions{}
	command := newCommand("rerun", "[options] RESULTS.xlsx", "do what is still missing in a results workbook, edited or not", rerunHelp,
		slices.Concat([]cli.Flag{textFlag(&p.where.Mapping, "mapping", "m", "the mapping `FILE` (default: that of the run)")},
			p.environmentFlags("that of the run"), []cli.Flag{p.templatesFlag(), p.ledgerFlag(),
				textFlag(&o.out, "out", "o", "the new results `FILE` (default: the workbook itself)"),
				switchFlag(&o.yes, "yes", "without a ledger: take the ids from the workbook"),
			}, p.runFlags(o)),
		func(c *cli.Context) (err error) {
			if c.NArg() > 1 {
				return problem.New("usage", "one results workbook at a time; %d are named", c.NArg()).
					Hinted("run them again one after the other; if the ledger is lost or older than they are, the newest first")
			}
			o.sheets = c.Args().Slice()
			if o.workbook, err = workbook.Read(o.sheets[0], p.password); err != nil {
				return err
			}
			if o.where.Mapping == "" || !c.IsSet("env") {
				if err := o.fromLedger(c.Context, c.IsSet("env")); err != nil {
					return err
				}
			}
			return p.importSheets(c.Context, *o)
		})
	command.Before = func(c *cli.Context) error {
		return p.prepareRun(c, o, "no results workbook is given", "claimsheet rerun leads.results.xlsx")
	}
	return command
}

// fromLedger sets the mapping and the environment that a rerun is not given to those of the run that wrote its workbook, as the ledger
// recorded them. The workbook's own words, and a state folder beside it, are not used: anybody can write them, and the environments file
// beside a mapping runs programs.
func (o *runOptions) fromLedger(ctx context.Context, envGiven bool) error {
	state := o.where.StateDir(false)
	if o.where.Mapping == "" && o.where.Environments == "" && o.where.State == "" {
		state = load.StatePath(usualMapping, "", "") // in the working directory
	}
	places := []load.LedgerPlace{{Folder: state}, {Folder: load.SandboxFolder(state)}}
	if s, err := load.OpenEnvironment(withUsualMapping(o.where)); err == nil && s.State != "" { // else the environment may be the one of the run
		if err := s.Locate(ctx); err != nil {
			return err
		}
		if s.Place.Server != nil {
			places = slices.Insert(places, 0, s.Place)
		}
	}
	book, at := o.workbook, problem.Where{File: o.workbook.Path}
	for _, place := range places {
		run, known, err := recordedRun(ctx, place, book.Run)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if !envGiven {
			o.where.Env = run.EnvironmentName
		}
		if o.where.Mapping == "" {
			o.where.Mapping, o.where.State = run.MappingFile, state
		}
		if info, err := os.Stat(o.where.Mapping); err != nil || !info.Mode().IsRegular() {
			return problem.At(at, "no-mapping", "the mapping file of the run that wrote the workbook, %s, is not there", o.where.Mapping).
				Hinted("name the file in which the mapping “%s” is now with -m", book.Mapping)
		}
		return nil
	}
	if o.where.Mapping != "" {
		return nil
	}
	o.where.Mapping = usualMapping
	return problem.At(at, "no-mapping", "no ledger in %s knows the run that wrote the workbook, so its mapping must be named", state).
		Hinted("give the file of the mapping “%s”, or change to the folder whose .claimsheet has the run: %s", book.Mapping, reports.CommandLine(o.words()))
}

// recordedRun returns a run of the ledger at a place.
func recordedRun(ctx context.Context, place load.LedgerPlace, id string) (run ledger.Run, known bool, err error) {
	if there, err := place.Exists(ctx); err != nil || !there || id == "" {
		return ledger.Run{}, false, err
	}
	if err := load.CheckState(place.Folder); err != nil {
		return ledger.Run{}, false, err
	}
	records, err := place.OpenReadOnly(ctx)
	if err != nil {
		return ledger.Run{}, false, err
	}
	defer records.Close()
	return records.Run(ctx, id)
}

// compareWorkbook compares the workbook of a rerun with the ledger, and refuses one that cannot be relied on. What the ledger does not
// know, and decisions, are recorded after the user has agreed; a dry run is refused where there is any.
func (r *importRun) compareWorkbook(ctx context.Context) error {
	o, book := r.options, r.options.workbook
	if book == nil {
		return nil
	}
	c := &rerun.Comparison{Ledger: r.session.Ledger, Environment: r.scope, Binding: r.session.Binding,
		ActivityIDs: r.session.Env.Wire.ActivityID != "", NewIdentity: o.accept["new-identity"]}
	at := problem.Where{File: book.Path}
	began, ended, err := r.knownRun(ctx, book.Run)
	if err != nil {
		return err
	}
	if book.Dropped && !ended {
		return problem.At(at, "properties-lost",
			"the program that saved this workbook dropped its document properties, and the ledger %s does not know its run: a later run may have created more", r.session.Place).
			Hinted("correct the sheet that it was made from and run that; or give a results workbook that has its properties, such as a copy from a backup")
	}
	if err := c.CheckSteps(ctx, workbook.Steps(r.session.Inputs[0].Open), ended); err != nil {
		return err
	}
	if _, err := os.Stat(book.Ledger); !began && err == nil && book.Ledger != safefile.Absolute(r.session.Place.String()) {
		return problem.At(at, "other-ledger", "the workbook belongs to the ledger %s; this run would use %s, which does not know it",
			book.Ledger, r.session.Place).
			Hinted("give --state with the folder of earlier runs, or the mapping and the environments file that belong to it")
	}
	switch {
	case (!ended || c.Missing() > 0) && !c.Complete(book.Steps):
		return problem.At(at, "steps-missing",
			"lines of the workbook's sheet Steps are gone, and the ledger does not know what they said: what is done could be done again").
			Hinted("give the copy that was kept of the workbook, or bring the ledger back: %s", r.session.Place)
	case o.dryRun && c.Missing()+c.Decisions() > 0:
		return problem.New("dry-run-ledger", "a dry run changes nothing, and the ledger must learn %d steps from the workbook first",
			c.Missing()+c.Decisions()).
			Of(problem.Stopped).Hinted("leave --dry-run out: decisions in the sheet Steps are recorded then, and you are asked before steps are taken over")
	case c.Missing() > 0:
		question := fmt.Sprintf("The ledger %s does not know %d steps that the workbook shows as done or undecided.\n"+
			"Take them over from the workbook, so that they are not sent again?", r.session.Place, c.Missing())
		if err := r.agree(ctx, o.yes, question, "nothing was sent: the ledger does not know what the workbook shows as done",
			"bring the ledger back, or take the ids from the workbook: "+reports.CommandLine(slices.Insert(o.words(), 2, "--yes"))); err != nil {
			return err
		}
		if err := c.TakeOver(r.run, r.session.Inputs[0].Rows()); err != nil {
			return err
		}
	}
	if err := c.CheckRows(ctx, r.session.Inputs[0].Rows()); err != nil {
		return err
	}
	if !o.dryRun {
		if err := r.recordBookRun(ctx); err != nil {
			return err
		}
	}
	if r.lost != nil {
		return r.lost
	}
	return c.Settle(ctx, uuid.NewString()) // last: a workbook that is refused is given again with its decisions
}

// recordBookRun records the run that wrote the workbook, now that the ledger knows what it did, with the mapping file of this run: a
// workbook must not name the files that are read the next time.
func (r *importRun) recordBookRun(ctx context.Context) error {
	b, m := r.options.workbook, r.session.Mapping
	began, ended, err := r.knownRun(ctx, b.Run)
	if err != nil || b.Run == "" || ended {
		return err
	}
	at := b.Started.UTC()
	if b.Started.IsZero() {
		at = time.Now().UTC()
	}
	run := ledger.Run{ID: b.Run, Environment: r.scope, EnvironmentName: r.session.Env.Name,
		Mapping: m.Name.Text, MappingFile: m.File, MappingDigest: m.Digest,
		Input: b.Input, InputDigest: b.InputDigest, Started: at, Finished: at}
	if began {
		return r.session.Ledger.FinishRun(run)
	}
	return r.session.Ledger.StartRun(run)
}
