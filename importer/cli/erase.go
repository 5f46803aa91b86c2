package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// purge removes personal data that is older than o.days from the state folder.
func (p *program) purge(ctx context.Context, o historyOptions) error {
	l, err := p.openLedger(o.where, false)
	defer l.close()
	if err != nil {
		return err
	}
	if l.ledger == nil {
		fmt.Fprintf(p.Out, "nothing to purge: nothing was ever run here (there is no ledger in %s)\n", l.session.State)
		return nil
	}
	before := time.Now().AddDate(0, 0, -o.days)
	question := fmt.Sprintf("Purge what is older than %s in the environment “%s”? Kept copies of sheets, requests, answers and redirect urls\n"+
		"go for good; keys, states and ids stay.", moment(before), l.session.Env.Name)
	if err := p.agree(ctx, o.yes, question, "nothing was purged: it was not confirmed", "type yes, or give --yes"); err != nil {
		return err
	}
	scopes, err := l.scopes(ctx)
	if err != nil {
		return err
	}
	kept, err := l.keptInputs(ctx)
	if err != nil {
		return err
	}
	service, _, err := l.service(ctx)
	if err != nil {
		return err
	}
	done, err := l.ledger.Purge(ledger.Purge{Environments: scopes, Service: service, Before: before})
	if err != nil {
		return err
	}
	inputs, err := l.removeInputs(ctx, kept, before)
	if err != nil {
		return err
	}
	p.object = historyJSON{Environment: l.session.Env.Name, Purged: &purgedJSON{inputs.files, inputs.bytes, done.Steps}}
	fmt.Fprintf(p.Out, "purged in the environment “%s” what is older than %s:\n", l.session.Env.Name, moment(before))
	fmt.Fprintf(p.Out, "  kept copies of sheets                          %d (%d bytes)\n", inputs.files, inputs.bytes)
	fmt.Fprintf(p.Out, "  requests, answers and redirect urls, of steps  %d\n", done.Steps)
	if done.Unsettled > 0 {
		fmt.Fprintf(p.Out, "%s and kept, because an answer may have an id; decide with %s, then purge again\n",
			stepsAre(done.Unsettled, "uncertain"), l.command("settle"))
	}
	fmt.Fprintln(p.Out, "Results workbooks are not in the state folder: remove those that are no longer needed.")
	return nil
}

// purgedJSON counts what a purge removed.
type purgedJSON struct {
	Copies    int   `json:"copies"`    // kept copies of sheets
	CopyBytes int64 `json:"copyBytes"` // how many bytes those had
	Steps     int   `json:"steps"`     // states of steps that have lost their request, answer and redirect url
}

// forgottenJSON counts what an erasure removed.
type forgottenJSON struct {
	Steps     int      `json:"steps"`     // steps without data now
	Copies    int      `json:"copies"`    // kept copies of sheets
	CopyBytes int64    `json:"copyBytes"` // how many bytes those had
	IDs       []string `json:"ids"`       // what the service still has: the kind and the id of each thing
}

// forget erases one client.
func (p *program) forget(ctx context.Context, o historyOptions) error {
	l, err := p.openLedger(o.where, false)
	defer l.close()
	if err != nil {
		return err
	}
	owners, err := l.toForget(ctx, o.forget)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Erase this client from the ledger of the environment “%s” for good? Later runs will recognise the client\n"+
		"and leave the rows out. Nothing is sent to the service: it keeps what it has.", l.session.Env.Name)
	if err := p.agree(ctx, o.yes, question, "nobody was erased: it was not confirmed", "type yes, or give --yes"); err != nil {
		return err
	}
	kept, err := l.keptInputs(ctx)
	if err != nil {
		return err
	}
	var ids []string
	steps := 0
	for _, owner := range owners {
		known, err := l.ledger.StepsOfClient(ctx, owner)
		if err != nil {
			return err
		}
		n, err := l.ledger.Forget(owner, time.Now())
		if errors.Is(err, ledger.ErrUnsettled) {
			return problem.New("client-undecided", "the client has a step that may or may not have been created; once the client is erased, nobody can look for it").
				Hinted("decide it first: %s", l.command("settle"))
		}
		if err != nil {
			return err
		}
		steps += n
		for _, s := range known {
			if s.ID != "" {
				ids = append(ids, s.Kind+" "+s.ID)
			}
		}
	}
	inputs, err := l.removeInputs(ctx, kept, time.Now())
	if err != nil {
		return err
	}
	p.object = historyJSON{Environment: l.session.Env.Name, Forgotten: &forgottenJSON{steps, inputs.files, inputs.bytes, append([]string{}, ids...)}}
	fmt.Fprintf(p.Out, "erased: steps: %d, kept copies of sheets: %d (%d bytes)\n", steps, inputs.files, inputs.bytes)
	if len(ids) > 0 {
		fmt.Fprintf(p.Out, "The service still has: %s\n", problem.OneLine(strings.Join(ids, ", ")))
	}
	fmt.Fprintln(p.Out, "Remove the client from results workbooks and from the export too: each run keeps a copy of its sheet.")
	return nil
}

// toForget returns the client's entries: one for each case under version 1.
func (l *ledgerSession) toForget(ctx context.Context, key string) ([]ledger.ClientKey, error) {
	found, err := l.everyOwner(ctx, key)
	if err != nil {
		return nil, err
	}
	var owners []ledger.ClientKey
	spaces := map[string]bool{}
	for _, owner := range found {
		if _, erased := ledger.Erased(owner.Client); !erased {
			owners = append(owners, owner)
			spaces[owner.Space] = true
		}
	}
	switch {
	case len(owners) == 0:
		return nil, l.unknownClient()
	case len(spaces) > 1:
		return nil, problem.New("ambiguous-key", "%d clients have this key, with different kinds of key", len(spaces)).
			Hinted("write the kind and a colon before it: %s", strings.Join(slices.Sorted(maps.Keys(spaces)), ", "))
	}
	return owners, nil
}

// removedInputs counts the copies of sheets that were removed.
type removedInputs struct {
	files int
	bytes int64
}

// keptInputs returns the file names of the copies of sheets that runs have.
func (l *ledgerSession) keptInputs(ctx context.Context) (map[string]bool, error) {
	kept, err := l.ledger.KeptInputs(ctx)
	names := map[string]bool{}
	for _, path := range kept {
		names[filepath.Base(path)] = true
	}
	return names, err
}

// minOrphanAge: a copy without a run is deleted only when older than this, because a
// run copies its sheet before it takes the lock.
const minOrphanAge = time.Hour

// removeInputs removes the copies of sheets that were kept and that no run has any more, and
// copies older than before that no run ever had: a run, or a purge, was killed. Those stay where the
// state folder has another ledger too: they may be of its runs.
func (l *ledgerSession) removeInputs(ctx context.Context, kept map[string]bool, before time.Time) (gone removedInputs, err error) {
	folder := load.InputsFolder(l.session.State)
	shared, err := l.sharesFolder()
	if err != nil {
		return gone, err
	}
	if shared {
		before = time.Time{}
	}
	still, err := l.keptInputs(ctx)
	if err != nil {
		return gone, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return gone, err
	}
	if latest := time.Now().Add(-minOrphanAge); before.After(latest) {
		before = latest
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || still[entry.Name()] || !kept[entry.Name()] && !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
			return gone, err
		}
		gone.files++
		gone.bytes += info.Size()
	}
	return gone, nil
}
