package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// ledgerSession is an open ledger of the environment that session has chosen. It
// must be closed, also when opening it failed.
type ledgerSession struct {
	session *load.Session
	where   load.Where
	place   ledgerPlace    // where the ledger is, once it was looked for
	ledger  *ledger.Ledger // nil when there is none: nothing was ever run here
	run     string         // the run that records events, or the name of what a command records without a run
	dryRun  bool           // only read
	closers []func()

	// sharing says how a command shares a ledger in a database; nil for those that need it
	// alone.
	sharing *postgres.Sharing

	accept map[string]bool // of guardCodes
}

func (l *ledgerSession) close() {
	for i := len(l.closers) - 1; i >= 0; i-- {
		l.closers[i]()
	}
	l.closers = nil
	l.session.Close()
}

// path is what names the ledger in messages.
func (l *ledgerSession) path() string { return l.place.String() }

// absoluteName returns a name that stays valid: the absolute path of the file, or as path does.
func (l *ledgerSession) absoluteName() string {
	if l.place.server != nil {
		return l.path()
	}
	return safefile.Absolute(l.path())
}

// find finds out where the ledger is, unless that is known.
func (l *ledgerSession) find(ctx context.Context) (err error) {
	if l.place != (ledgerPlace{}) {
		return nil
	}
	l.place, err = placeOfLedger(ctx, l.where, l.session.Env, l.session.State)
	return err
}

// lock opens the ledger for writing and makes one if there was none. It fails with
// ledger.ErrLocked while another command has it. What may take a while is said on
// out.
func (l *ledgerSession) lock(out io.Writer) error {
	open, release, err := l.place.open(context.Background(), out, l.sharing, l.requireLedger) // under the lock: another command may have been making the first ledger
	if err != nil {
		return err
	}
	l.ledger = open
	l.closers = append(l.closers, release, func() { _ = l.ledger.Close() }) // every Append was durable before
	return nil
}

// ledgerProgress says once what the ledger waits for.
func ledgerProgress(out io.Writer) ledger.Progress {
	said := ""
	return func(what string) {
		if what != said {
			said = what
			fmt.Fprintf(out, "claimsheet: %s the ledger…\n", what)
		}
	}
}

// openReadOnly opens the ledger for reading; other commands may write to it.
func (l *ledgerSession) openReadOnly() (err error) {
	if err := l.requireLedger(); err != nil {
		return err
	}
	if l.ledger, err = l.place.openReadOnly(context.Background()); err != nil {
		return err
	}
	l.closers = append(l.closers, func() { _ = l.ledger.Close() })
	return nil
}

// requireLedger refuses a ledger that is gone, and one that is not there yet while the state
// folder belongs to another. A new one may take its place when the user says so, and when the command takes ids from results workbooks, because it asks
// before it does so.
func (l *ledgerSession) requireLedger() error {
	if l.accept["ledger-missing"] || l.fromWorkbooks() {
		return nil
	}
	there, err := l.exists()
	if err != nil || there || l.session.Env.Sandbox {
		return err
	}
	if shared, err := l.place.sharesFolder(); err != nil || !shared {
		return err
	}
	return &incomplete{problem.At(problem.Where{File: l.path()}, "ledger-missing",
		"there is no ledger here yet, and the state folder belongs to a ledger in another place: if that is this environment's, everything would be created again").
		Hinted("see that ledger in the environments file, or --ledger, names the right place; to move a ledger: claimsheet copy-ledger; if nothing was ever run in this environment, add --accept ledger-missing, once")}
}

// fromWorkbooks reports whether the command takes ids from results workbooks.
func (l *ledgerSession) fromWorkbooks() bool {
	sources := l.session.Sources
	return len(sources) > 0 && sources[0].Workbook != nil
}

// ledgerFlags are the flags of commands that work on the ledger without a sheet.
// The mapping is only a place to look beside.
func ledgerFlags() []cli.Flag {
	return append(withMapping("the mapping `FILE`: the environments file and the state folder are beside it; default: mapping.yaml in this folder, or this folder",
		placeFlags()[:4]), ledgerFlag()...) // all but the sandbox's reference data
}

// openEnvironmentOf chooses the environment of a command that works on the
// ledger, which must have a state folder.
func openEnvironmentOf(where load.Where) (*ledgerSession, error) {
	l := &ledgerSession{where: withUsualMapping(where), run: uuid.NewString()}
	var err error
	if l.session, err = load.OpenEnvironment(l.where); err != nil {
		return l, err
	}
	if l.session.State == "" {
		return l, problem.New("no-state", "there is no environments file here, so the state folder is not known").
			Hinted("name the mapping with -m, the environments file with --environments, or the folder with --state")
	}
	return l, l.find(context.Background())
}

// exists reports whether there is a ledger, and refuses a place where one was and is not any
// more.
func (l *ledgerSession) exists() (bool, error) {
	there, err := l.place.exists(context.Background())
	if err != nil || there || !ledger.WasOpened(l.place.lockedAt()) || l.session.Env.Sandbox {
		return there, err
	}
	return false, &incomplete{problem.At(problem.Where{File: l.path()}, "ledger-missing",
		"the ledger is gone, and a file in the state folder, with which it was locked, says that there was one: what was created is not known any more").
		Hinted("see that its url is right, if it is in a database; bring it back from a backup; or import the results workbooks with claimsheet rerun --yes RESULTS.xlsx…; " +
			"if it was moved away on purpose, add --accept ledger-missing to the next run")}
}

// openLedger locks the ledger of an environment, so that nothing changes
// meanwhile. Outcomes in journals are recorded first, and steps that a
// killed run left in flight become uncertain. With sharing, runs and workers may
// write a ledger in a database meanwhile.
func (p *program) openLedger(where load.Where, sharing *postgres.Sharing) (*ledgerSession, error) {
	l, err := openEnvironmentOf(where)
	l.sharing = sharing
	if err != nil {
		return l, err
	}
	if there, err := l.exists(); !there {
		return l, err
	}
	_, err = p.takeLedger(l)
	return l, err
}

// takeLedger locks the ledger and puts it in order, as openLedger says. It returns the folders of
// journals.
func (p *program) takeLedger(l *ledgerSession) (folders []string, err error) {
	if err := l.lock(p.Err); err != nil {
		return nil, err
	}
	if folders, err = journal.Folders(l.place.file(), ""); err != nil {
		return nil, err
	}
	if err := p.replayJournals(l.ledger, folders); err != nil {
		return nil, err
	}
	_, err = l.ledger.MarkInterrupted(l.run, time.Now().UTC())
	return folders, err
}

// readLedger opens the ledger of an environment for reading, without a lock: a
// run may go on meanwhile.
func (p *program) readLedger(where load.Where) (*ledgerSession, error) {
	l, err := openEnvironmentOf(where)
	if err != nil {
		return l, err
	}
	if there, err := l.exists(); !there {
		return l, err
	}
	l.dryRun = true
	return l, l.openReadOnly()
}

// replayJournals records the outcomes that earlier runs kept in their journals, and says so, also
// of the steps that are uncertain by that. The ledger is locked, and this run has written nothing
// to it yet.
func (p *program) replayJournals(l *ledger.Ledger, folders []string) error {
	n, conflicts, err := journal.Replay(l, folders)
	console.PrintProblems(p.Err, conflicts)
	if n > 0 {
		fmt.Fprintf(p.Err, "claimsheet: outcomes recorded that an earlier run had to keep in its journal: %d\n", n)
	}
	if found, ok := err.(problem.Problem); ok {
		return &incomplete{found}
	}
	return err
}

// refuseJournals stops a dry run when journals have outcomes: it would plan what was done
// already, and it must not record them.
func (p *program) refuseJournals(l *ledger.Ledger, folders []string) error {
	n, err := journal.Pending(l, folders)
	if found, ok := err.(problem.Problem); ok {
		return &incomplete{found}
	}
	if err != nil || n == 0 {
		return err
	}
	return &incomplete{problem.New("dry-run-journal", "a dry run changes nothing, and %d outcomes in the journals of earlier runs must be recorded in the ledger first", n).
		Hinted("leave --dry-run out: the run records them before anything else; claimsheet settle records those in the state folder, and sends nothing")}
}

// openJournal prepares for a ledger that cannot be written any more.
func (p *program) openJournal(run string, l *ledger.Ledger, folders []string) *journal.File {
	return journal.Open(run, l.Path(), folders, func(s journal.Created) {
		what, where := s.Kind+" created", "noted nowhere else: write it down"
		if s.ID != "" {
			what += fmt.Sprintf(", id %q", s.ID)
		}
		if s.File != "" {
			where = "noted in " + problem.OneLine(s.File)
		}
		fmt.Fprintf(p.Err, "claimsheet: the ledger cannot be written: %s; %s\n", what, where)
	})
}

// scopes returns the ledger's names for the environment: one for version 2, and one
// for each case of version 1, because claim types have cases of their own.
func (l *ledgerSession) scopes(ctx context.Context) ([]string, error) {
	all, err := l.ledger.Environments(ctx)
	if err != nil {
		return nil, err
	}
	v2, err := l.scope(ctx)
	if err != nil {
		return nil, err
	}
	own, _ := environment.ServiceOf(v2)
	return slices.DeleteFunc(all, func(scope string) bool {
		service, _ := environment.ServiceOf(scope)
		return service != own
	}), nil
}

// scope returns the ledger's name for the environment under version 2. It fails
// while the ledger knows nothing at the environment's base url and something at
// the one where it last ran: uncertain steps there would look as if they were
// settled.
func (l *ledgerSession) scope(ctx context.Context) (string, error) {
	env := l.session.Env
	scope, err := scopeOf(ctx, l.ledger, env.Identity(apiclient.V2))
	if err != nil {
		return scope, err
	}
	then, err := movedFrom(ctx, l.ledger, env, scope)
	if err != nil || then == "" {
		return scope, err
	}
	now, _ := environment.ServiceOf(scope)
	if any, err := hasClients(ctx, l.ledger, now); err != nil || any {
		return scope, err
	}
	return "", serviceChanged(env.Name, then, now,
		"put the base url back; or, if the change is meant, first run a sheet: with --accept same-service if it is the same service at another address, "+
			"with --accept new-service if it is another one")
}

// scopeOf returns the name under which a ledger has the entries of an
// environment: its identity, unless the service has moved there from another
// address, or an older ledger has the same base url in another spelling.
func scopeOf(ctx context.Context, known *ledger.Ledger, identity string) (string, error) {
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
		if environment.SameService(scope, identity) {
			return scope, nil
		}
	}
	return identity, nil
}

// movedFrom returns the base url at which an environment last ran, when the ledger
// knows clients there and scope, its name for the environment now, has another base
// url; else "".
func movedFrom(ctx context.Context, known *ledger.Ledger, env *environment.Environment, scope string) (string, error) {
	last, ran, err := known.LastEnvironment(ctx, env.Name)
	if err != nil || !ran || env.Sandbox {
		return "", err
	}
	now, _ := environment.ServiceOf(scope)
	then, _ := environment.ServiceOf(last)
	if now == then {
		return "", nil
	}
	if any, err := hasClients(ctx, known, then); err != nil || !any {
		return "", err
	}
	return then, nil
}

// movedHint says what a run needs after the base url has changed.
const movedHint = "if it is the same service at another address, add --accept same-service: what is done is not sent again; " +
	"if it is another service, which knows nothing of these clients, add --accept new-service; each is given once"

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

// runsOf returns the runs in the environment, the newest first.
func (l *ledgerSession) runs(ctx context.Context) ([]ledger.Run, error) {
	if l.ledger == nil {
		return nil, nil
	}
	scopes, err := l.scopes(ctx)
	if err != nil {
		return nil, err
	}
	return l.runsIn(ctx, scopes)
}

func (l *ledgerSession) runsIn(ctx context.Context, scopes []string) ([]ledger.Run, error) {
	var runs []ledger.Run
	for r, err := range l.ledger.Runs(ctx, scopes) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// command returns a command line of claimsheet for the same place.
func (l *ledgerSession) command(words ...string) string { return commandLine(l.where, words...) }
