package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

// ledgerPlace is where a ledger is: in a file of the state folder, or in a database.
type ledgerPlace struct {
	folder string            // the state folder
	server *postgres.Address // nil for a file
}

// placeOfLedger returns where the ledger of an environment is: where --ledger says, else
// where the environment says, else in the state folder.
func placeOfLedger(ctx context.Context, where load.Where, env *environment.Environment, folder string) (ledgerPlace, error) {
	place := ledgerPlace{folder: folder}
	if where.Ledger != "" {
		if env.Sandbox {
			return place, problem.New("usage", "--ledger is not for the sandbox, whose ledger is in its own folder")
		}
		return place.at(ctx, "--ledger", where.Ledger)
	}
	url, err := env.Ledger(ctx)
	if err != nil || url.Reveal() == "" {
		return place, err
	}
	return place.atURL(url)
}

// at is the place that a flag names by a url or a reference to one.
func (p ledgerPlace) at(ctx context.Context, flag, text string) (ledgerPlace, error) {
	url, err := environment.LedgerURL(ctx, flag, text)
	if err != nil {
		return p, err
	}
	return p.atURL(url)
}

func (p ledgerPlace) atURL(url environment.Secret) (ledgerPlace, error) {
	address, err := postgres.Parse(url.Reveal())
	p.server = &address
	return p, err
}

// String names the ledger: the path of its file, or the server, the database and the
// schema.
func (p ledgerPlace) String() string {
	if p.server != nil {
		return p.server.String()
	}
	return p.file()
}

// file is the path of the ledger's file. Beside it are the files that this machine keeps
// for the ledger, wherever that is.
func (p ledgerPlace) file() string { return statefolder.Ledger(p.folder) }

// open locks the ledger and opens it for writing, and makes one if there was none. A
// ledger in a database may be shared with other processes, each with a state folder of
// its own; sharing is nil to have it alone. ready is called under the lock of the state
// folder, before the ledger is opened.
func (p ledgerPlace) open(ctx context.Context, out io.Writer, sharing *postgres.Sharing, ready func() error) (l *ledger.Ledger, release func(), err error) {
	if p.server != nil {
		return p.openServer(ctx, sharing, ready)
	}
	if release, err = ledger.Lock(p.file()); err != nil {
		return nil, nil, err
	}
	if err = ready(); err == nil {
		l, err = ledger.OpenWith(p.file(), ledgerProgress(out))
	}
	return p.opened(l, release, err)
}

// opened is what open returns: it notes that there is a ledger now, or unlocks the place.
func (p ledgerPlace) opened(l *ledger.Ledger, release func(), err error) (*ledger.Ledger, func(), error) {
	if err == nil {
		if err = ledger.NoteOpened(p.lockedAt()); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		release()
		return nil, release, err
	}
	return l, release, nil
}

// lockedAt is the path at which this machine locks the ledger.
func (p ledgerPlace) lockedAt() string {
	if p.server != nil {
		return p.server.Beside(p.folder)
	}
	return p.file()
}

// openServer is open for a ledger in a database.
func (p ledgerPlace) openServer(ctx context.Context, sharing *postgres.Sharing, ready func() error) (l *ledger.Ledger, release func(), err error) {
	release, err = ledger.Lock(p.lockedAt())
	if found, ok := errors.AsType[problem.Problem](err); ok && errors.Is(err, ledger.ErrLocked) {
		found.Hint += " Runs that are to share the ledger need a state folder each (--state)."
		return nil, nil, ledger.Refuse(found, ledger.ErrLocked)
	}
	if err != nil {
		return nil, nil, err
	}
	switch err = ready(); {
	case err != nil:
	case sharing != nil:
		l, err = postgres.OpenShared(ctx, *p.server, *sharing)
	default:
		l, err = postgres.Open(ctx, *p.server)
	}
	return p.opened(l, release, err)
}

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

// sharesFolder reports whether the state folder belongs to another ledger too: a file
// and a database, or several databases, when environments have ledgers of their own.
func (p ledgerPlace) sharesFolder() (bool, error) {
	files, err := os.ReadDir(p.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	file, own := filepath.Base(statefolder.Ledger(p.folder)), ""
	if p.server != nil {
		own = filepath.Base(p.lockedAt()) + ".lock"
	}
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		isDatabase, _ := path.Match("ledger-*.lock", f.Name())
		return isDatabase && f.Name() != own && ledger.WasOpened(filepath.Join(p.folder, strings.TrimSuffix(f.Name(), ".lock"))) || f.Name() == file && p.server != nil
	}), err
}

// limiter holds the rate for all processes that use the ledger and send to an
// environment's service; nil for a file, which one process has for itself.
func (p ledgerPlace) limiter(env *environment.Environment) load.Limiter {
	if p.server == nil {
		return nil
	}
	return postgres.NewLimiter(*p.server, apiclient.ServiceKey(env.BaseURL))
}

// check reads the whole ledger.
func (p ledgerPlace) check(ctx context.Context) error {
	l, err := p.openReadOnly(ctx)
	if err != nil {
		return err
	}
	return errors.Join(l.Check(ctx), l.Close())
}
