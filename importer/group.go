package importer

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// group is the plans of clients who are worked on together.
type group struct {
	plans []mapping.Plan
	first *clientRun // the first client's, read ahead; nil when it has to be read
}

// nothingLeft reports whether, by what was read ahead, nothing is left to be done for the clients of
// a group.
func (g group) nothingLeft() bool {
	return len(g.plans) == 1 && g.first != nil && (g.first.noWork != nil || g.first.isDone())
}

// isDone reports whether all steps of a client are done as the plan wants them.
func (r *clientRun) isDone() bool {
	return r.noWork == nil && r.failed == nil && !slices.ContainsFunc(r.decisions, func(d decision) bool { return !d.isDoneAsWanted() })
}

// grouped yields the plans of each group together. A contact gets the id that the sheet gives the same
// person in another row of the group (known_id). One id for several clients is a problem of each.
func (j *Job) grouped(plans iter.Seq2[mapping.Plan, error]) iter.Seq2[[]mapping.Plan, error] {
	return func(yield func([]mapping.Plan, error) bool) {
		for group, err := range j.Groups.Grouped(plans) {
			ids, rows := map[mapping.Identity]string{}, map[string][]string{}
			for _, plan := range group {
				if givesID(plan) {
					id := plan.Steps[0].KnownID
					ids[plan.Client], rows[id] = id, append(rows[id], j.Binding.RowName(plan.Rows[0]))
				}
			}
			for i := range group {
				plan := &group[i]
				for _, step := range plan.Steps {
					if step.Contact != nil && ids[step.Contact.Client] != "" {
						step.Contact.Steps[0].KnownID = ids[step.Contact.Client]
					}
				}
				if of := rows[ids[plan.Client]]; len(of) > 1 {
					plan.Problems = append(plan.Problems, problem.At(j.Binding.AtRow(plan.Rows[0]), "known-id-twice",
						"the sheet gives one id to several clients, in the rows %s", strings.Join(of, ", ")).
						Hinted("look in the service whose id it is, and correct the cells"))
				}
			}
			if !yield(group, err) {
				return
			}
		}
	}
}

// read yields the groups. Every core reads ahead what the ledger knows of their first clients.
// That changes only by the work on the client's own group, or on a further contact, who is read
// again before anything is sent. Where several processes write the ledger, the client is read
// again when the group is locked.
func (j *Job) read(groups iter.Seq2[[]mapping.Plan, error]) iter.Seq2[group, error] {
	return inParallel(chunked(groups, readAhead), func(chunk [][]mapping.Plan) []group {
		first := make([]mapping.Plan, len(chunk))
		for i, plans := range chunk {
			first[i] = plans[0]
		}
		read := make([]group, len(chunk))
		for i, r := range j.prepareClients(first) {
			read[i] = group{chunk[i], r}
		}
		return read
	})
}

// prepareClients prepares clients by what the ledger knows of them. It reads all steps at once without
// requests and answers, and reads again, whole, those of clients for whom that is not enough.
func (j *Job) prepareClients(plans []mapping.Plan) []*clientRun {
	runs := j.preparedBy(plans, j.Ledger.BriefStepsOfClients)
	var left []mapping.Plan
	var places []int // of left, in runs
	for i, r := range runs {
		if !r.briefSuffices() {
			left, places = append(left, plans[i]), append(places, i)
		}
	}
	if len(left) > 0 {
		for i, r := range j.preparedBy(left, j.Ledger.StepsOfClients) {
			runs[places[i]] = r
		}
	}
	return runs
}

// preparedBy prepares clients by the steps that read returns of them.
func (j *Job) preparedBy(plans []mapping.Plan,
	read func(context.Context, string, string, []ledger.ClientKey) ([]map[string]ledger.Step, error)) []*clientRun {
	owners := make([]ledger.ClientKey, len(plans))
	for i, plan := range plans {
		owners[i] = j.clientKey(plan.Client)
	}
	known, err := read(uninterrupted, j.Environment, j.Binding.Mapping().Name.Text, owners)
	runs := make([]*clientRun, len(plans))
	for i, plan := range plans {
		var steps map[string]ledger.Step
		if err == nil {
			steps = known[i]
		}
		runs[i] = j.newClientRun(plan, steps, err)
	}
	return runs
}

// briefSuffices reports whether all steps of a client are done as the plan wants them, and their
// answers were read by the present rules; or the ledger has no step of the client.
func (r *clientRun) briefSuffices() bool {
	for _, s := range r.steps {
		if s.Version <= r.job.readByOthers {
			return false
		}
	}
	return len(r.steps) == 0 || r.isDone() && !slices.ContainsFunc(r.decisions, func(d decision) bool { return d.Advice != "" })
}

// runGroup carries out the plans of a group one after the other, and calls done with the outcome of
// each.
func (j *Job) runGroup(ctx context.Context, g group, done func(clientOutcome) error) error {
	if j.Ledger.Shared() && !g.nothingLeft() {
		unlock, err := j.lock(ctx, g.plans, nil)
		if err != nil {
			return err
		}
		defer unlock()
		g.first = nil // read again what other processes may have done
	}
	for i, plan := range g.plans {
		r := g.first
		if i > 0 || r == nil {
			r = j.readClient(plan)
		}
		r.group = g.plans
		outcome, err := j.runClient(ctx, r)
		if err == nil {
			err = done(outcome)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runClient carries one client's plan out, and lets the guard see its outcome. If the ledger refuses
// to record a step, because another process or a person has changed it meanwhile, the client is read
// and carried out again, once; what is left then waits for the next run.
func (j *Job) runClient(ctx context.Context, r *clientRun) (outcome clientOutcome, err error) {
	defer func() { j.canary.leave(r.leads, r.answered) }()
	outcome, err = r.execute(ctx)
	if isRefusal(err) {
		r = r.again()
		outcome, err = r.execute(ctx)
	}
	f, failed := errors.AsType[*apiclient.Failure](err)
	if failed || isRefusal(err) { // what is left of the client is recorded as not started
		if failed {
			j.stop(f) // a look-up said that no other request will fare better
		}
		ended, end := context.WithCancelCause(ctx) // whose cause is that of the run, if it was stopped
		end(errChangedAgain)
		r = r.again()
		outcome, err = r.execute(ended)
	}
	if err == nil && (r.sent > 0 || r.lookedUp) && j.mode == modeRun && !j.ends() {
		o := observation{of: ofClient, bad: r.unanswered || r.sent > 0 && (r.refused != 0 || outcome.Status == result.Failed)}
		if r.refused/100 == 4 {
			o.status = r.refused
		}
		j.observe(o)
	}
	return outcome, err
}

// keepOutcome puts a client's outcome into Drafts, from which the workbooks are made, and counts it. Where the
// client has rows in several sheets, the workbook of each has all its steps, because it may be the only one
// at hand.
func (j *Job) keepOutcome(o clientOutcome) error {
	for table, rows := range o.tables() {
		if err := j.Drafts[table].Add(o.Number, o.Client.Key, rows, o.Lines); err != nil {
			return err
		}
	}
	j.tally.count(o, j.Binding, len(j.Runs))
	return nil
}

// project calls record with the outcome of a client in a job that projects.
func (r *clientRun) project(ctx context.Context, record func(clientOutcome) error) error {
	outcome, err := r.execute(ctx)
	if err != nil {
		return err
	}
	return record(outcome)
}

// projector returns a job that projects plans of this one.
func (j *Job) projector() *Job {
	return &Job{Runs: j.Runs, Environment: j.Environment, Binding: j.Binding, Service: j.Service, Ledger: j.Ledger, Clock: j.Clock,
		Limit: j.Limit, Only: j.Only, SimilarKeys: j.SimilarKeys, mode: modeReport, erasures: j.erasures}
}
