package load

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

// LedgerPlace is where a ledger is: in a file of the state folder, or in a database.
type LedgerPlace struct {
	Folder string            // the state folder
	Server *postgres.Address // nil for a file
}

// Locate finds out where the ledger is: where --ledger says, else where the environment says, else in the state folder. It asks for a url
// only once.
func (s *Session) Locate(ctx context.Context) error {
	var url environment.Secret
	var err error
	switch {
	case s.Place.Folder != "":
		return nil
	case s.State == "":
		return problem.New("no-state", "there is no environments file here, so the state folder is not known").
			Hinted("name the mapping with -m, the environments file with --environments, or the folder with --state")
	case s.where.Ledger == "":
		url, err = s.Env.Ledger(ctx)
	case s.Env.Sandbox:
		return problem.New("usage", "--ledger is not for the sandbox, whose ledger is in its own folder")
	default:
		url, err = environment.LedgerURL(ctx, "--ledger", s.where.Ledger)
	}
	if err == nil && url.Reveal() != "" {
		var address postgres.Address
		address, err = postgres.Parse(url.Reveal())
		s.Place.Server = &address
	}
	s.Place.Folder = s.State
	return err
}

// String names the ledger: the path of its file, or the server, the database and the schema.
func (p LedgerPlace) String() string {
	if p.Server != nil {
		return p.Server.String()
	}
	return p.file()
}

// file is the path of the ledger's file. Beside it are the files that this machine keeps for the ledger, wherever that is.
func (p LedgerPlace) file() string { return LedgerFile(p.Folder) }

// lockedAt is the path at which this machine locks the ledger.
func (p LedgerPlace) lockedAt() string {
	if p.Server != nil {
		return p.Server.Beside(p.Folder)
	}
	return p.file()
}

// Journal is the path of the file in which a run keeps what the ledger cannot take.
func (p LedgerPlace) Journal() string { return journal.Path(p.lockedAt()) }

// OpenReadOnly opens the ledger for reading. If there is no ledger yet, it returns an empty one.
func (p LedgerPlace) OpenReadOnly(ctx context.Context) (*ledger.Ledger, error) {
	if p.Server != nil {
		return postgres.OpenReadOnly(ctx, *p.Server)
	}
	return ledger.OpenReadOnly(p.file())
}

// Exists reports whether there is a ledger.
func (p LedgerPlace) Exists(ctx context.Context) (bool, error) {
	if p.Server != nil {
		return postgres.Exists(ctx, *p.Server)
	}
	_, err := os.Lstat(p.file())
	return !errors.Is(err, fs.ErrNotExist), nil
}

// SharesFolder reports whether the state folder belongs to another ledger too, because environments have ledgers of their own.
func (p LedgerPlace) SharesFolder() (bool, error) {
	files, err := os.ReadDir(p.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		if name, isLock := strings.CutSuffix(f.Name(), ".lock"); isLock {
			isDatabase, _ := path.Match("ledger-*", name)
			other := filepath.Join(p.Folder, name)
			return isDatabase && (p.Server == nil || other != p.lockedAt()) && ledger.WasOpened(other)
		}
		return p.Server != nil && f.Name() == filepath.Base(p.file())
	}), err
}

// OpenForReading opens the ledger for reading, without a lock; other commands may write to it.
func (s *Session) OpenForReading() (err error) {
	if err := s.refuseMissingLedger(); err != nil {
		return err
	}
	s.Ledger, err = s.Place.OpenReadOnly(context.Background())
	return err
}

// OpenForWriting opens the ledger for writing and makes one if there was none. It fails with a problem of the class Locked while another
// command has it. One in a database may be shared: other processes may write it too. silence is that of postgres.OpenShared.
func (s *Session) OpenForWriting(shared bool, silence time.Duration) error {
	place := s.Place
	release, err := ledger.Lock(place.lockedAt())
	if found, ok := errors.AsType[problem.Problem](err); ok && place.Server != nil && found.Class == problem.Locked {
		found.Hint += " Runs that are to share the ledger need a state folder each (--state)."
		return found
	}
	if err != nil {
		return err
	}
	s.release = release
	if err = s.refuseMissingLedger(); err != nil { // under the lock: another command may have been making the first ledger
		return err
	}
	switch {
	case place.Server == nil:
		s.Ledger, err = ledger.Open(place.file())
	case shared:
		s.Ledger, err = postgres.OpenShared(context.Background(), *place.Server, silence)
	default:
		s.Ledger, err = postgres.Open(context.Background(), *place.Server)
	}
	if err != nil {
		return err
	}
	return ledger.NoteOpened(place.lockedAt())
}

// CloseLedger closes and unlocks the ledger, also when opening it failed.
func (s *Session) CloseLedger() {
	if s.Ledger != nil {
		_ = s.Ledger.Close() // what was recorded is durable
	}
	if s.release != nil {
		s.release()
	}
	s.Ledger, s.release = nil, nil
}

// HasLedger reports whether there is a ledger, and refuses a place where one was and is not any more.
func (s *Session) HasLedger() (bool, error) {
	there, err := s.Place.Exists(context.Background())
	if err != nil || there || !ledger.WasOpened(s.Place.lockedAt()) || s.Env.Sandbox {
		return there, err
	}
	return false, problem.At(problem.Where{File: s.Place.String()}, "ledger-missing",
		"the ledger is gone, and a file in the state folder, with which it was locked, says that there was one: what was created is not known any more").
		Of(problem.Stopped).Hinted("see that its url is right, if it is in a database; bring it back from a backup; or import the results workbooks with claimsheet rerun --yes RESULTS.xlsx, the newest first; " +
		"if it was moved away on purpose, add --accept ledger-missing to the next run")
}

// refuseMissingLedger refuses a ledger that is gone, and one that is not there yet while the state
// folder belongs to another. A new one may take its place when the user says so, and when the
// command takes ids from results workbooks, because it asks before it does so.
func (s *Session) refuseMissingLedger() error {
	if s.where.NewLedger || len(s.Inputs) > 0 && s.Inputs[0].Workbook != nil {
		return nil
	}
	there, err := s.HasLedger()
	if err != nil || there || s.Env.Sandbox {
		return err
	}
	if shared, err := s.Place.SharesFolder(); err != nil || !shared {
		return err
	}
	return problem.At(problem.Where{File: s.Place.String()}, "ledger-missing",
		"there is no ledger here yet, and the state folder belongs to a ledger in another place: if that is this environment's, everything would be created again").
		Of(problem.Stopped).Hinted("see that ledger in the environments file, or --ledger, names the right place; to move a ledger: claimsheet copy-ledger; if nothing was ever run in this environment, add --accept ledger-missing, once")
}

// FindScope returns a ledger's scope for the environment: identity, which is Scope, unless the service has moved there from another address.
// moved is the base url at which the environment last ran, when that is another one and the ledger knows clients there; else "".
func (s *Session) FindScope(ctx context.Context, known *ledger.Ledger, identity string) (scope, moved string, err error) {
	now, rest := environment.ServiceOf(identity)
	scope = identity
	if to, ok, err := known.Moved(ctx, now); err != nil {
		return "", "", err
	} else if ok {
		scope = to + rest
	}
	last, ran, err := known.LastEnvironment(ctx, s.Env.Name)
	if err != nil || !ran || s.Env.Sandbox {
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

// ConfirmScope returns the ledger's scope for the environment of a command that sends. After a change of its base url
// the user says whether it leads to the same service, or to a new one; a dry run does not record the answer.
func (s *Session) ConfirmScope(ctx context.Context, isSame, isNew, dryRun bool) (string, error) {
	scope, then, err := s.FindScope(ctx, s.Ledger, s.Scope())
	if err != nil || then == "" || isNew {
		return scope, err
	}
	now, rest := environment.ServiceOf(scope)
	if !isSame {
		return "", s.serviceChanged(then, now, MovedHint)
	}
	if known, err := hasClients(ctx, s.Ledger, now); err != nil {
		return "", err
	} else if known {
		return "", problem.New("service-known", "the ledger knows clients of %s already: it cannot be the service that was at %s", now, then).
			Hinted("put the base url back, or give --accept new-service instead")
	}
	if !dryRun {
		if err := s.Ledger.SetMoved(now, then); err != nil {
			return "", err
		}
	}
	scope, _, err = s.FindScope(ctx, s.Ledger, then+rest)
	return scope, err
}

// MovedHint says what a run needs after the base url has changed.
const MovedHint = "if it is the same service at another address, add --accept same-service: what is done is not sent again; " +
	"if it is another service, which knows nothing of these clients, add --accept new-service; each is given once"

func (s *Session) serviceChanged(then, now, hint string) error {
	return problem.New("service-changed", "the base url of the environment “%s” was %s when it last ran, and is %s now", s.Env.Name, then, now).
		Of(problem.Stopped).Hinted("%s", hint)
}

// ServiceScope returns the base url under which the ledger has the environment's service, and moved as FindScope does.
func (s *Session) ServiceScope(ctx context.Context) (service, moved string, err error) {
	scope, moved, err := s.FindScope(ctx, s.Ledger, s.Env.Identity(apiclient.V2))
	service, _ = environment.ServiceOf(scope)
	return service, moved, err
}

// AllScopes returns the ledger's scopes of the environment: one for version 2, and one for each case of version 1; and for its service.
// It fails while the ledger knows nothing at the base url and something at the one where the environment last ran: uncertain steps there
// would look settled.
func (s *Session) AllScopes(ctx context.Context) (all []string, own string, err error) {
	own, moved, err := s.ServiceScope(ctx)
	if err != nil {
		return nil, "", err
	}
	if any, err := hasClients(ctx, s.Ledger, own); err != nil {
		return nil, "", err
	} else if moved != "" && !any {
		return nil, "", s.serviceChanged(moved, own,
			"put the base url back; or, if the change is meant, first run a sheet: with --accept same-service if it is the same service at another address, "+
				"with --accept new-service if it is another one")
	}
	all, err = s.Ledger.Environments(ctx)
	return slices.DeleteFunc(all, func(scope string) bool {
		service, _ := environment.ServiceOf(scope)
		return service != own
	}), own, err
}
