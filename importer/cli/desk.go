package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

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
