package cli

import (
	"context"
	"errors"
	"iter"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// running is a run under way: what was asked for, and what is at hand of it by
// now.
type running struct {
	options runOptions
	started time.Time
	setup   *setup
	books   *books
	parts   []*part
	places  []string // for emergency files
	survey  *importer.Survey
	job     *importer.Job
	recall  *recall // of a rerun
	why     error   // why the run had to stop before its end, nil when it had not
}

// close gives back what is open, the latest first.
func (r *running) close() {
	if r.job != nil && r.job.Emergency != nil {
		r.job.Emergency.Close()
	}
	if r.books != nil {
		r.books.close()
	}
	r.setup.close()
}

// prepare loads and binds everything, opens the ledger and sees to it that the
// workbooks can be written. The run must be closed, also after an error.
func (r *running) prepare(ctx context.Context, p *program) (err error) {
	o, a := r.options, p.attended
	r.setup, err = prepare(ctx, settings{
		place: o.place, sheets: o.sheets, password: o.password.value, origins: o.origins, environment: true, keepIn: o.keepIn,
		corrected: !o.dryRun && o.format != formatCSV,
		readOnly:  o.dryRun, rate: o.rate, run: a.run,
	})
	a.knows(r.setup)
	if r.setup.mapping != nil { // they may be why the mapping cannot be used
		sayWarnings(p.Err, r.setup.mapping.Warnings)
	}
	if err != nil {
		return err
	}
	notices, err := o.notices(r.setup)
	if err != nil {
		return err
	}
	sayWarnings(p.Err, append(r.setup.warnings, notices...))
	r.setup.olderLedger = o.newLedger
	if r.books, err = openBooks(r.setup, o.dryRun); err != nil {
		if errors.Is(err, ledger.ErrLocked) {
			r.setup.keepInputs() // the run that holds the ledger may be reading the same copies
		}
		return err
	}
	if err := r.settleScope(ctx); err != nil {
		return err
	}
	for _, from := range o.origins {
		if err := from.refusesEnvironment(r.setup); err != nil {
			return err
		}
	}
	if r.parts, err = o.parts(r.setup, r.books.known, a.run, r.started); err != nil {
		return err
	}
	if err := checkTargets(ctx, r.parts, r.started); err != nil {
		return err
	}
	if err := r.checkBehind(ctx); err != nil {
		return err
	}
	if err := r.books.setAside(r.setup, r.parts); err != nil {
		return err
	}
	r.places, err = importer.EmergencyPlaces(ledgerFile(r.setup.state), r.parts[0].target.path)
	if err != nil {
		return err
	}
	if o.dryRun {
		return foreseeTakeUp(r.books.known, r.places)
	}
	return p.takeUp(r.books.known, r.places)
}

// look goes through the sheets and refuses what must not be sent. Nothing is
// sent before it has come to its end, and nothing is remembered.
func (r *running) look(ctx context.Context, p *program) (err error) {
	p.attended.starts(r.setup, r.options)
	if r.survey, err = p.survey(ctx, r.options, r.setup, r.parts); err != nil {
		return err
	}
	p.attended.log.Info("first pass", r.counted()...)
	if err := checkWidths(r.parts); err != nil {
		return err
	}
	if r.job, err = r.options.job(r.setup, r.books, r.survey, runsOf(r.parts)); err != nil {
		return err
	}
	grown, err := r.options.vet(ctx, r.job, r.setup, r.survey)
	if err != nil {
		return err
	}
	sayProblems(p.Err, grown)
	r.recall, err = p.recall(ctx, r.options, r.setup, r.books)
	return err
}

// counted is what the first pass has found. A dry run finds the invalid rows
// later.
func (r *running) counted() []any {
	found := []any{"rows", r.survey.Rows, "clients", r.survey.Clients}
	if !r.options.dryRun {
		found = append(found, "invalidRows", r.survey.Invalid)
	}
	return found
}

// begin enters the run into the ledger, and makes its plans.
func (r *running) begin(ctx context.Context, p *program) (plans iter.Seq2[mapping.Plan, error], err error) {
	if err := r.books.start(r.parts); err != nil {
		return nil, err
	}
	if s := r.setup; !r.options.dryRun {
		s.keepInputs()
		if err := r.markOlder(ctx, p); err != nil {
			return nil, err
		}
		if err := r.define(ctx); err != nil {
			return nil, err
		}
		r.job.Emergency = p.openEmergency(p.attended.run, r.books.known, r.places)
	}
	plans = r.job.Recorded(ctx, r.survey.Plans(r.setup.binding, r.setup.rows))
	if r.recall == nil {
		return plans, nil
	}
	plans, err = r.recall.before(ctx, plans, p.attended.run)
	if err == nil && !r.options.dryRun {
		err = r.recall.enterRuns(ctx)
	}
	r.recall.Keep(r.job)
	return plans, err
}

// define remembers what the names of the mapping's steps are made from.
func (r *running) define(ctx context.Context) error {
	s, known := r.setup, r.books.known
	then, _, err := known.Definition(ctx, s.scope, s.mapping.Name.Text)
	if err != nil {
		return err
	}
	return known.SetDefinition(s.scope, s.mapping.Name.Text, s.binding.Definition(then))
}
