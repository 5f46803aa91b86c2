package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

// ledgerPlace is where a ledger is: in a file of the state folder, or in a database.
type ledgerPlace struct {
	folder string            // the state folder
	server *postgres.Address // nil for a file
}

// placeOfLedger returns where an environment's ledger is: where --ledger says, else where the environment says, else in the state folder.
func placeOfLedger(ctx context.Context, where load.Where, env *environment.Environment, folder string) (ledgerPlace, error) {
	p := ledgerPlace{folder: folder}
	switch {
	case where.Ledger == "":
		return p.at(env.Ledger(ctx))
	case env.Sandbox:
		return p, problem.New("usage", "--ledger is not for the sandbox, whose ledger is in its own folder")
	}
	return p.at(environment.LedgerURL(ctx, "--ledger", where.Ledger))
}

// at is the place at a url; p for none.
func (p ledgerPlace) at(url environment.Secret, err error) (ledgerPlace, error) {
	if err != nil || url.Reveal() == "" {
		return p, err
	}
	address, err := postgres.Parse(url.Reveal())
	p.server = &address
	return p, err
}

// String names the ledger: the path of its file, or the server, the database and the schema.
func (p ledgerPlace) String() string {
	if p.server != nil {
		return p.server.String()
	}
	return p.file()
}

// file is the path of the ledger's file. Beside it are the files that this machine keeps for the ledger, wherever that is.
func (p ledgerPlace) file() string { return load.LedgerFile(p.folder) }

// lockedAt is the path at which this machine locks the ledger.
func (p ledgerPlace) lockedAt() string {
	if p.server != nil {
		return p.server.Beside(p.folder)
	}
	return p.file()
}

// journal is where a run keeps what the ledger cannot take.
func (p ledgerPlace) journal() string { return journal.Path(p.lockedAt()) }

func (p ledgerPlace) openReadOnly(ctx context.Context) (*ledger.Ledger, error) {
	if p.server != nil {
		return postgres.OpenReadOnly(ctx, *p.server)
	}
	return ledger.OpenReadOnly(p.file())
}

// exists reports whether there is a ledger.
func (p ledgerPlace) exists(ctx context.Context) (bool, error) {
	if p.server != nil {
		return postgres.Exists(ctx, *p.server)
	}
	_, err := os.Lstat(p.file())
	return !errors.Is(err, fs.ErrNotExist), nil
}

// sharesFolder reports whether the state folder belongs to another ledger too, because environments have ledgers of their own.
func (p ledgerPlace) sharesFolder() (bool, error) {
	files, err := os.ReadDir(p.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		if name, isLock := strings.CutSuffix(f.Name(), ".lock"); isLock {
			isDatabase, _ := path.Match("ledger-*", name)
			other := filepath.Join(p.folder, name)
			return isDatabase && (p.server == nil || other != p.lockedAt()) && ledger.WasOpened(other)
		}
		return p.server != nil && f.Name() == filepath.Base(p.file())
	}), err
}

// share is load.Connection.Share: the rate is held for all processes that use the ledger and the session's service; nil for a file.
func (p ledgerPlace) share(_ context.Context, s *load.Session) (load.Limiter, error) {
	if p.server == nil {
		return nil, nil
	}
	return postgres.NewLimiter(*p.server, apiclient.ServiceKey(s.Env.BaseURL)), nil
}

// ledgerSession is the ledger of the environment that session has chosen. It must be closed, also when opening it failed.
type ledgerSession struct {
	*program
	ledgerPlace // once it was looked for
	session     *load.Session
	where       load.Where
	ledger      *ledger.Ledger // nil until it is opened
	run         string         // the run that records events, or the name of what a command records without a run
	shared      bool           // other processes may write the ledger too, if it is in a database
	accept      map[string]bool
	release     func() // unlocks it; nil while it is not locked
}

func (l *ledgerSession) close() {
	if l.ledger != nil {
		_ = l.ledger.Close() // what was recorded is durable
	}
	if l.release != nil {
		l.release()
	}
	l.ledger, l.release = nil, nil
	l.session.Close()
}

// commandFor returns a command line of claimsheet for the same place.
func (l *ledgerSession) commandFor(words ...string) string { return commandLine(l.where, words...) }

// openEnvironment chooses the environment of a command that works on the ledger, which must have a state folder.
func (p *program) openEnvironment(where load.Where) (*ledgerSession, error) {
	l := &ledgerSession{program: p, where: withUsualMapping(where), run: uuid.NewString()}
	var err error
	if l.session, err = load.OpenEnvironment(l.where); err != nil {
		return l, err
	}
	return l, l.locate(context.Background())
}

// locate finds out where the ledger is.
func (l *ledgerSession) locate(ctx context.Context) (err error) {
	if l.session.State == "" {
		return problem.New("no-state", "there is no environments file here, so the state folder is not known").
			Hinted("name the mapping with -m, the environments file with --environments, or the folder with --state")
	}
	l.ledgerPlace, err = placeOfLedger(ctx, l.where, l.session.Env, l.session.State)
	return err
}

// openLedger opens the ledger of the environment with openForReading, openAndReplay or openSharedAndReplay until the
// end of the command. If the environment has no ledger yet, it opens an empty one in memory, which cannot be
// written, so that no state folder is made.
func (p *program) openLedger(open func(*ledgerSession) error) (*ledgerSession, error) {
	l, err := p.openEnvironment(p.where)
	if err != nil {
		return l, err
	}
	p.closers = append(p.closers, l.close)
	if there, err := l.isThere(); there || err != nil {
		if err == nil {
			err = open(l)
		}
		return l, err
	}
	l.ledger, err = ledger.Empty()
	return l, err
}

// noRun refuses a command that needs an earlier run.
func (l *ledgerSession) noRun() error {
	return problem.New("no-run", "nothing was ever run in the environment “%s”", l.session.Env.Name).
		Hinted("-e names another environment, --state another state folder; this one is %s", l.session.State)
}

// openAndReplay locks the ledger, so that nothing changes meanwhile, and records the outcomes in its journal.
func (l *ledgerSession) openAndReplay() error {
	if err := l.openForWriting(); err != nil {
		return err
	}
	return l.replayJournal()
}

// openSharedAndReplay is openAndReplay, but runs and workers may write to a ledger in a database meanwhile.
func (l *ledgerSession) openSharedAndReplay() error {
	l.shared = true
	return l.openAndReplay()
}

// openForReading opens the ledger for reading, without a lock; other commands may write to it.
func (l *ledgerSession) openForReading() (err error) {
	if err := l.refuseMissingLedger(); err != nil {
		return err
	}
	l.ledger, err = l.openReadOnly(context.Background())
	return err
}

// openForWriting opens the ledger for writing and makes one if there was none. It fails with a problem of the class Locked while another command has it.
func (l *ledgerSession) openForWriting() error {
	release, err := ledger.Lock(l.lockedAt())
	if found, ok := errors.AsType[problem.Problem](err); ok && l.server != nil && found.Class == problem.Locked {
		found.Hint += " Runs that are to share the ledger need a state folder each (--state)."
		return found
	}
	if err != nil {
		return err
	}
	l.release = release
	if err = l.refuseMissingLedger(); err != nil { // under the lock: another command may have been making the first ledger
		return err
	}
	switch {
	case l.server == nil:
		l.ledger, err = ledger.Open(l.file())
	case l.shared:
		l.ledger, err = postgres.OpenShared(context.Background(), *l.server, hooks.silence)
	default:
		l.ledger, err = postgres.Open(context.Background(), *l.server)
	}
	if err != nil {
		return err
	}
	return ledger.NoteOpened(l.lockedAt())
}

// isThere reports whether there is a ledger, and refuses a place where one was and is not any more.
func (l *ledgerSession) isThere() (bool, error) {
	there, err := l.exists(context.Background())
	if err != nil || there || !ledger.WasOpened(l.lockedAt()) || l.session.Env.Sandbox {
		return there, err
	}
	return false, &cannotRun{problem.At(problem.Where{File: l.String()}, "ledger-missing",
		"the ledger is gone, and a file in the state folder, with which it was locked, says that there was one: what was created is not known any more").
		Hinted("see that its url is right, if it is in a database; bring it back from a backup; or import the results workbooks with claimsheet rerun --yes RESULTS.xlsx, the newest first; " +
			"if it was moved away on purpose, add --accept ledger-missing to the next run")}
}

// refuseMissingLedger refuses a ledger that is gone, and one that is not there yet while the state
// folder belongs to another. A new one may take its place when the user says so, and when the
// command takes ids from results workbooks, because it asks before it does so.
func (l *ledgerSession) refuseMissingLedger() error {
	if l.accept["ledger-missing"] || len(l.session.Sources) > 0 && l.session.Sources[0].Workbook != nil {
		return nil
	}
	there, err := l.isThere()
	if err != nil || there || l.session.Env.Sandbox {
		return err
	}
	if shared, err := l.sharesFolder(); err != nil || !shared {
		return err
	}
	return &cannotRun{problem.At(problem.Where{File: l.String()}, "ledger-missing",
		"there is no ledger here yet, and the state folder belongs to a ledger in another place: if that is this environment's, everything would be created again").
		Hinted("see that ledger in the environments file, or --ledger, names the right place; to move a ledger: claimsheet copy-ledger; if nothing was ever run in this environment, add --accept ledger-missing, once")}
}

// replayJournal records the outcomes in the journal of an earlier run, and says so. The ledger is locked, and not written to yet.
func (l *ledgerSession) replayJournal() error {
	n, conflicts, err := journal.Replay(l.ledger, l.journal())
	console.PrintProblems(l.Err, conflicts)
	if n > 0 {
		fmt.Fprintf(l.Err, "claimsheet: outcomes recorded that an earlier run had to keep in its journal: %d\n", n)
	}
	if err != nil {
		return &cannotRun{err}
	}
	return nil
}

// openJournal prepares for a ledger that cannot be written any more.
func (l *ledgerSession) openJournal() (*journal.File, error) {
	file, err := journal.Open(l.journal(), func(kind, id string) {
		fmt.Fprintf(l.Err, "claimsheet: neither the ledger nor its journal can be written: %s created, id %q; noted nowhere else: write it down\n",
			kind, id)
	})
	if err != nil {
		return nil, &cannotRun{err}
	}
	return file, nil
}

// scopeOf returns a ledger's name for an environment: its identity, unless the service has moved there from another address. moved is the
// base url at which the environment last ran, when that is another one and the ledger knows clients there; else "".
func scopeOf(ctx context.Context, known *ledger.Ledger, env *environment.Environment, identity string) (scope, moved string, err error) {
	now, rest := environment.ServiceOf(identity)
	scope = identity
	if to, ok, err := known.Moved(ctx, now); err != nil {
		return "", "", err
	} else if ok {
		scope = to + rest
	}
	last, ran, err := known.LastEnvironment(ctx, env.Name)
	if err != nil || !ran || env.Sandbox {
		return scope, "", err
	}
	now, _ = environment.ServiceOf(scope)
	then, _ := environment.ServiceOf(last)
	if any, err := hasClients(ctx, known, then); err != nil || !any || now == then {
		return scope, "", err
	}
	return scope, then, nil
}

// hasClients reports whether the ledger knows clients of a service.
func hasClients(ctx context.Context, known *ledger.Ledger, service string) (bool, error) {
	all, err := known.Environments(ctx)
	for _, scope := range all {
		if of, _ := environment.ServiceOf(scope); of != service {
			continue
		}
		if n, err := known.KnownClients(ctx, scope, 1); err != nil || n > 0 {
			return true, err
		}
	}
	return false, err
}

// movedHint says what a run needs after the base url has changed.
const movedHint = "if it is the same service at another address, add --accept same-service: what is done is not sent again; " +
	"if it is another service, which knows nothing of these clients, add --accept new-service; each is given once"

func serviceChanged(name, then, now, hint string) error {
	return &cannotRun{problem.New("service-changed", "the base url of the environment “%s” was %s when it last ran, and is %s now", name, then, now).
		Hinted("%s", hint)}
}

// service returns the ledger's name for the service of the environment.
func (l *ledgerSession) service(ctx context.Context) (service, moved string, err error) {
	scope, moved, err := scopeOf(ctx, l.ledger, l.session.Env, l.session.Env.Identity(apiclient.V2))
	service, _ = environment.ServiceOf(scope)
	return service, moved, err
}

// scopes returns the ledger's names for the environment: one for version 2, and one for each case of version 1; and for its service. It
// fails while the ledger knows nothing at the base url and something at the one where the environment last ran: uncertain steps there would
// look settled.
func (l *ledgerSession) scopes(ctx context.Context) (all []string, own string, err error) {
	own, moved, err := l.service(ctx)
	if err != nil {
		return nil, "", err
	}
	if any, err := hasClients(ctx, l.ledger, own); err != nil {
		return nil, "", err
	} else if moved != "" && !any {
		return nil, "", serviceChanged(l.session.Env.Name, moved, own,
			"put the base url back; or, if the change is meant, first run a sheet: with --accept same-service if it is the same service at another address, "+
				"with --accept new-service if it is another one")
	}
	all, err = l.ledger.Environments(ctx)
	return slices.DeleteFunc(all, func(scope string) bool {
		service, _ := environment.ServiceOf(scope)
		return service != own
	}), own, err
}

// runs returns the runs in the environment, the newest first.
func (l *ledgerSession) runs(ctx context.Context) ([]ledger.Run, error) {
	scopes, _, err := l.scopes(ctx)
	if err != nil {
		return nil, err
	}
	return l.ledger.Runs(ctx, scopes)
}
