package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/spool"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// books are what is known and where a run's results go: both are the ledger,
// which a run holds alone. A dry run only reads it, and drafts its results.
type books struct {
	known   *ledger.Ledger
	drafts  []*spool.Results // for each of the run's sheets; none but in a dry run
	dryRun  bool
	closers []func()
}

func openBooks(s *setup, dryRun bool) (*books, error) {
	b := &books{dryRun: dryRun}
	path := ledgerFile(s.state)
	open := b.openForRun
	if dryRun {
		open = b.openDry
	}
	if err := open(path); err != nil {
		return b, err
	}
	return b, b.checkWhole(s, path)
}

// checkWhole refuses a ledger that has lost what was committed to it. A new one is
// left to a rerun, which asks before it takes the ids from its workbooks.
func (b *books) checkWhole(s *setup, path string) error {
	have, committed, err := b.known.Behind(context.Background())
	switch {
	case err != nil || have >= committed || s.env.Sandbox:
		return err
	case !s.olderLedger && (have > 0 || !s.fromWorkbooks()):
		return &incomplete{problem.At(problem.Where{File: path}, "ledger-cut",
			"%d records were written to the ledger, and it has %d: its log was cut, or an older ledger was put in its place; what is missing would be done again", committed, have).
			Hinted("bring the whole ledger back, with the files beside it; or restore a backup and have the newer results workbooks taken over by " +
				"claimsheet rerun --yes --new-ledger RESULTS.xlsx…")}
	case b.dryRun:
		return nil
	}
	return b.known.AcceptOlder()
}

func (b *books) openForRun(path string) error {
	release, err := ledger.Lock(path)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, release)
	if b.known, err = ledger.Open(path); err != nil {
		b.close()
		return err
	}
	b.closers = append(b.closers, func() { _ = b.known.Close() }) // every Append was durable before
	return nil
}

func (b *books) openDry(path string) (err error) {
	if b.known, err = ledger.OpenReadOnly(path); err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = b.known.Close() })
	return nil
}

func (b *books) close() {
	for i := len(b.closers) - 1; i >= 0; i-- {
		b.closers[i]()
	}
	b.closers = nil
}

// start enters the run. What a killed run left in flight becomes uncertain.
func (b *books) start(parts []*part) error {
	if b.dryRun {
		return nil
	}
	for _, part := range parts {
		if err := b.known.StartRun(part.record); err != nil {
			return err
		}
	}
	_, err := b.known.Interrupted(parts[0].record.ID, time.Now().UTC())
	return err
}

// keepIn is the folder that a run keeps its inputs in; a dry run keeps none.
func (o runOptions) keepIn(s *setup) string {
	if o.dryRun || s.state == "" {
		return ""
	}
	return filepath.Join(s.state, "inputs")
}

func tooFewRows(p *part, least int) error {
	return &incomplete{problem.At(problem.Where{File: p.source.book}, "min-rows", "rows in the sheet: %d, fewer than --min-rows %d: the export is broken", p.rows, least).
		Hinted("nothing was sent; look at the export")}
}

// incomplete is a problem, or a list of them, by which the run could not be made (exit code 3),
// though nothing is wrong with how it was asked for.
type incomplete struct{ error }

// Unwrap lets the problems be shown with their hints.
func (i *incomplete) Unwrap() error { return i.error }

// deskFlags are the flags of commands that work on the ledger without a sheet.
// The mapping is only a place to look beside.
func deskFlags() []cli.Flag {
	flags := placeFlags()[:4] // all but the sandbox's reference data
	flags[0] = textFlag("mapping", "m", "the mapping `FILE`: the environments file and the state folder are sought beside it; default: the current folder")
	return flags
}

// desk is where an operator works on what is known of an environment. Its
// ledger is locked as long as it is open, so nothing changes meanwhile.
type desk struct {
	setup *setup // without a mapping or a sheet
	where place
	books *books
	known *ledger.Ledger // nil when there is no ledger: nothing was ever run here
	run   string         // names the operator's events; no run has it
}

// openDesk finds the environment and opens its ledger. What a killed run left
// in flight becomes uncertain. The desk must be closed, also after an error.
func (p *program) openDesk(where place) (*desk, error) {
	d := &desk{setup: &setup{}, where: where, run: uuid.NewString()}
	if err := d.chooseEnvironment(); err != nil {
		return d, err
	}
	if _, err := os.Lstat(ledgerFile(d.setup.state)); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	var err error
	if d.books, err = openBooks(d.setup, false); err != nil {
		return d, err
	}
	d.known = d.books.known
	places, err := importer.EmergencyPlaces(ledgerFile(d.setup.state), "")
	if err == nil {
		err = p.takeUp(d.known, places)
	}
	if err != nil {
		return d, err
	}
	_, err = d.known.Interrupted(d.run, time.Now().UTC())
	return d, err
}

func (d *desk) chooseEnvironment() error {
	if d.where.mapping != "" {
		if _, err := os.Stat(d.where.mapping); err != nil {
			return cannotRead(d.where.mapping, err)
		}
	}
	var file *environment.File
	path, ok := environment.Find(d.where.mapping, d.where.environments)
	if ok {
		var err error
		if file, err = environment.Load(path); err != nil {
			return err
		}
	}
	env, err := file.Choose(d.where.env)
	if err != nil {
		return err
	}
	if environment.StateDir(d.where.mapping, path, d.where.state) == "" {
		return problem.New("no-state", "there is no environments file here, so the state folder is not known").
			Hinted("name the mapping with -m, the environments file with --environments, or the folder with --state")
	}
	d.setup.env, d.setup.state = env, d.where.stateFolder(env, path)
	return refuseShared(d.setup.state)
}

func (d *desk) close() {
	if d.books != nil {
		d.books.close()
	}
	d.setup.close()
}

// scopes are the ledger's names for the environment: that of version 2, and
// one for each case of version 1, because claim types have cases of their own.
func (d *desk) scopes(ctx context.Context) ([]string, error) {
	all, err := d.known.Environments(ctx)
	if err != nil {
		return nil, err
	}
	v2, err := d.scope(ctx)
	if err != nil {
		return nil, err
	}
	ours, _ := environment.ServiceOf(v2)
	return slices.DeleteFunc(all, func(scope string) bool {
		service, _ := environment.ServiceOf(scope)
		return service != ours
	}), nil
}

// scope is the ledger's name for the environment under version 2. It refuses
// while nothing is known at the environment's address and something is where it
// last ran: what is uncertain there would look as if it were settled.
func (d *desk) scope(ctx context.Context) (string, error) {
	scope, err := scopeIn(ctx, d.known, d.setup.env.Identity(apiclient.V2))
	if err != nil || d.setup.env.Sandbox {
		return scope, err
	}
	last, ran, err := d.known.LastEnvironment(ctx, d.setup.env.Name)
	if err != nil || !ran {
		return scope, err
	}
	now, _ := environment.ServiceOf(scope)
	then, _ := environment.ServiceOf(last)
	if now == then {
		return scope, nil
	}
	if any, err := hasClients(ctx, d.known, now); err != nil || any {
		return scope, err
	}
	if any, err := hasClients(ctx, d.known, then); err != nil || !any {
		return scope, err
	}
	return "", serviceChanged(d.setup.env.Name, then, now,
		"put the base url back; or, if the change is meant, first run a sheet: with --same-service if it is the same service at another address, "+
			"with --new-service if it is another one")
}

// command is a command line of claimsheet for the same place.
func (w place) command(words ...string) string {
	line := []string{"claimsheet", words[0]}
	for _, flag := range [][2]string{{"-m", w.mapping}, {"-e", w.env}, {"--environments", w.environments}, {"--state", w.state}} {
		if flag[1] != "" {
			line = append(line, flag[0], flag[1])
		}
	}
	return reports.CommandLine(append(line, words[1:]...))
}

// scopeIn is the name under which a ledger has an environment's entries: its
// identity, unless the service has moved there from another address, or an older
// ledger has the same base url in another spelling.
func scopeIn(ctx context.Context, known *ledger.Ledger, identity string) (string, error) {
	service, rest := environment.ServiceOf(identity)
	moved, ok, err := known.Moved(ctx, service)
	if err != nil {
		return "", err
	}
	if ok {
		identity = moved + rest
	}
	all, err := known.Environments(ctx)
	if err != nil || slices.Contains(all, identity) {
		return identity, err
	}
	for _, scope := range all {
		if isSameService(scope, identity) {
			return scope, nil
		}
	}
	return identity, nil
}

// settleScope finds the ledger's name for the run's environment. Where the base
// url has changed under the environment's name, a person has to say whether that
// is the same service.
func (r *running) settleScope(ctx context.Context) error {
	s, g, known := r.setup, r.options.guards, r.books.known
	scope, err := scopeIn(ctx, known, s.scope)
	if err != nil {
		return err
	}
	last, ran, err := known.LastEnvironment(ctx, s.env.Name)
	if err != nil {
		return err
	}
	now, rest := environment.ServiceOf(scope)
	then, _ := environment.ServiceOf(last)
	if !ran || s.env.Sandbox || now == then || g.newService {
		s.scope = scope
		return nil
	}
	if any, err := hasClients(ctx, known, then); err != nil || !any {
		s.scope = scope
		return err
	}
	if !g.sameService {
		return serviceChanged(s.env.Name, then, now, "if it is the same service at another address, give --same-service: what is done is not sent again; "+
			"if it is another service, which knows nothing of these clients, give --new-service; each is given once")
	}
	if any, err := hasClients(ctx, known, now); err != nil || any {
		if err == nil {
			err = problem.New("service-known", "the ledger knows clients of %s already: it cannot be the service that was at %s", now, then).
				Hinted("put the base url back, or leave --same-service out and give --new-service")
		}
		return err
	}
	if !r.options.dryRun {
		if err := known.SetMoved(now, then); err != nil {
			return err
		}
	}
	s.scope, err = scopeIn(ctx, known, then+rest)
	return err
}

func serviceChanged(name, then, now, hint string) error {
	return &incomplete{problem.New("service-changed", "the base url of the environment “%s” was %s when it last ran, and is %s now", name, then, now).
		Hinted("%s", hint)}
}

// hasClients reports whether the ledger knows clients of a service.
func hasClients(ctx context.Context, known *ledger.Ledger, service string) (bool, error) {
	all, err := known.Environments(ctx)
	if err != nil {
		return false, err
	}
	for _, scope := range all {
		if of, _ := environment.ServiceOf(scope); of != service {
			continue
		}
		if n, err := known.KnownClients(ctx, scope, 1); err != nil || n > 0 {
			return true, err
		}
	}
	return false, nil
}

// isSameService reports whether two names of environments are spellings of one.
func isSameService(a, b string) bool {
	service, rest := environment.ServiceOf(a)
	other, otherRest := environment.ServiceOf(b)
	return service == other && rest == otherRest
}

// takeUp enters into the ledger what earlier runs kept in emergency files, and
// says so. The lock is held, and nothing of this run is in the ledger yet.
func (p *program) takeUp(l *ledger.Ledger, places []string) error {
	n, err := importer.TakeUp(l, places)
	if n > 0 {
		fmt.Fprintf(p.Err, "claimsheet: outcomes taken up that an earlier run could not record: %d\n", n)
	}
	if found, ok := err.(problem.Problem); ok {
		return &incomplete{found}
	}
	return err
}

// foreseeTakeUp stops a dry run that would foretell what has been done already:
// the outcomes stand in emergency files, and it must not enter them.
func foreseeTakeUp(l *ledger.Ledger, places []string) error {
	n, err := importer.ToTakeUp(l, places)
	if found, ok := err.(problem.Problem); ok {
		return &incomplete{found}
	}
	if err != nil || n == 0 {
		return err
	}
	return &incomplete{problem.New("dry-run-emergency", "a dry run changes nothing, and the ledger is first to take up %d outcomes from emergency files of an earlier run", n).
		Hinted("leave --dry-run out: the run takes them up before anything else; claimsheet settle takes up those in the state folder, and sends nothing")}
}

// openEmergency prepares for a ledger that cannot be written any more.
func (p *program) openEmergency(run string, l *ledger.Ledger, places []string) *importer.Emergency {
	return importer.OpenEmergency(run, l.Path(), places, func(s importer.Salvaged) {
		what := s.Kind + " created"
		if s.ID != "" {
			what += fmt.Sprintf(", id %q", s.ID)
		}
		where := "noted nowhere else: write it down"
		if s.File != "" {
			where = "noted in " + problem.OneLine(s.File)
		}
		fmt.Fprintf(p.Err, "claimsheet: the ledger cannot be written: %s; %s\n", what, where)
	})
}
