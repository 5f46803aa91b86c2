package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// ErrLostLedger is wrapped when the ledger knows few clients of an environment
// whose service knows most of the sheet's clients.
var ErrLostLedger = errors.New("the ledger knows few clients or none, and the service knows most of these already")

// CheckIdentity refuses, before anything is sent, what would create everything
// again: a mapping whose keys or activity ids changed under its name, or whose
// work is done under another name. plans are those of the whole sheet; they are
// read only when the ledger knows another such mapping. The error is a
// problem.Problem, or the ledger's or the sheet's.
func (j *Job) CheckIdentity(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	m := j.Binding.Mapping()
	definitions, err := j.Ledger.Definitions(ctx, j.Environment) // all at once: another process may run the mapping for the first time now
	if err != nil {
		return err
	}
	then, known := definitions[m.Name.Text]
	if known {
		if changes := j.Binding.Redefined(then); len(changes) > 0 {
			return newIdentity(m.At(m.Name.At), "the mapping “%s” has run before with %s: with other keys, what is done would be done again",
				m.Name.Text, strings.Join(changes, " and ")).
				Hinted("take the change of client.key, client.key_space, client.lookup or the claims' keys back; or add --accept new-identity: " +
					"where a column was only renamed, and its cells are the same, nothing is sent again; where the keys are others, everything is created again")
		}
		if err := j.checkActivities(ctx, then); err != nil {
			return err
		}
	}
	delete(definitions, m.Name.Text)
	if len(definitions) == 0 {
		return nil
	}
	alike := map[string]string{} // the key spaces of mappings that this one may have been, by name
	for name, definition := range definitions {
		if space, same := j.Binding.SameAs(definition, name); same && !known {
			alike[name] = space
		}
	}
	for plan, err := range plans {
		if err == nil {
			err = j.checkClaims(ctx, plan)
		}
		if err == nil {
			err = j.checkName(ctx, plan, alike)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newIdentity is the problem of a mapping that would create again what is done.
func newIdentity(at problem.Where, format string, args ...any) problem.Problem {
	return problem.At(at, "new-identity", format, args...)
}

// checkActivities refuses activities that were renamed, and would create again what is done. then is
// the mapping's definition as the ledger has it.
func (j *Job) checkActivities(ctx context.Context, then string) error {
	m := j.Binding.Mapping()
	for _, r := range j.Binding.Renamed(then) {
		done, err := j.Ledger.HasSteps(ctx, j.Environment, m.Name.Text, r.Steps)
		if err != nil {
			return err
		}
		was := "as “" + r.Was + "”"
		if r.Now == r.Was {
			was = "on another scope"
		}
		if done {
			return newIdentity(m.At(r.At), "the activity that is “%s” now has run before %s: what is done would be done again", r.Now, was).
				Hinted("take the change back; or add --accept new-identity if the activity should be created again for everybody")
		}
	}
	return nil
}

// checkClaims refuses claims that were created under another mapping's name.
func (j *Job) checkClaims(ctx context.Context, plan mapping.Plan) error {
	m := j.Binding.Mapping()
	var claims []string
	for _, step := range plan.Steps {
		if step.Kind == mapping.ClaimStep && step.KnownID == "" { // which is never made
			claims = append(claims, step.Key)
		}
	}
	other, clash, err := j.Ledger.ClaimedElsewhere(ctx, j.clientKey(plan.Client), m.Name.Text, claims)
	if err != nil || !clash {
		return err
	}
	return newIdentity(m.At(m.Name.At), "claims of this sheet are done under the mapping “%s”, or may be: under the name “%s” they would be made again",
		other, m.Name.Text).
		Hinted("use the name “%s” again; or add --accept new-identity if these are claims of their own", other)
}

// checkName refuses a mapping that was renamed: it is new to the ledger, and another one with the
// same definition has run for the plan's client. alike has the key spaces of such mappings, by name.
func (j *Job) checkName(ctx context.Context, plan mapping.Plan, alike map[string]string) error {
	if len(plan.Steps) == 0 {
		return nil
	}
	m := j.Binding.Mapping()
	for _, name := range slices.Sorted(maps.Keys(alike)) {
		owner := j.clientKey(plan.Client)
		shared := owner.Space == alike[name]
		owner.Space = alike[name]
		steps, err := j.Ledger.Steps(ctx, owner, name)
		if err != nil {
			return err
		}
		for key, step := range steps {
			if step.State == ledger.Refused || shared && key == string(mapping.ClientStep) {
				continue
			}
			return newIdentity(m.At(m.Name.At),
				"the mapping “%s” is new, and “%s”, which is defined alike, has run for clients of this sheet: what is done would be done again", m.Name.Text, name).
				Hinted("use the name “%s” again; or add --accept new-identity if everything should be created again for these clients", name)
		}
	}
	return nil
}

// sampleSize is how many clients are looked up to tell a lost ledger from a new
// one. In a smaller sheet all clients count, if they are at least minSample: that the
// service knows one or two is normal (existing: reuse).
const (
	sampleSize = 20
	minSample  = 5
	maxRead    = 50 * sampleSize // how many plans are read to find enough clients to look up
)

// detectLostLedger returns ErrLostLedger when the ledger knows few clients of the environment, and
// the service knows most of those clients of the sheet that the ledger does not know: then the
// ledger was lost or moved. It looks the first of these up. The answers are kept, so no client is
// looked up twice. The ledger is no suspect if a whole sheet has been checked with it, or where the
// mapping sends nothing for clients that the service knows: then nothing can be sent twice.
func (j *Job) detectLostLedger(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	switch {
	case j.NewLedger:
		return j.trust()
	case j.NoLookup || j.Binding.Mapping().Client.Existing != mapping.Reuse:
		return nil
	}
	if trusted, err := j.Ledger.Trusted(ctx, j.Environment); err != nil || trusted {
		return err
	}
	if known, err := j.Ledger.KnownClients(ctx, j.Environment, sampleSize); err != nil || known >= sampleSize {
		return err
	}
	asked, known, unanswered, read, seen := 0, 0, 0, 0, map[string]bool{}
	for plan, err := range plans {
		if err != nil {
			return err
		}
		asks, err := j.asksFor(plan, seen)
		if err != nil {
			return err
		}
		if asks {
			found, err := j.lookups.find(withRow(ctx, plan), plan)
			if err != nil {
				j.stop(err)
				return nil // the clients are recorded as not started
			}
			j.lookups.prefetched[plan.Client] = found // nothing else looks up yet
			j.seeLookUp(found)
			switch {
			case ctx.Err() != nil:
				return nil
			case found.failed != nil: // it does not show whether the service knows the client
				unanswered++
			case found.id != "":
				asked, known = asked+1, known+1
			default:
				asked++
			}
		}
		if read++; asked == sampleSize || unanswered == sampleSize || read == maxRead {
			break
		}
	}
	j.observe(observation{of: ofLookUp}) // the clients' own runs let the guard see these answers again
	if asked < minSample || unanswered == sampleSize {
		return nil
	}
	if known*2 > asked {
		// A process that began in the same moment may be creating them: before it did, it
		// has seen that the ledger is new.
		if trusted, err := j.Ledger.Trusted(ctx, j.Environment); err != nil || trusted {
			return err
		}
		return fmt.Errorf("%w: %d of the first %d", ErrLostLedger, known, asked)
	}
	return j.trust()
}

// asksFor reports whether the run will look up the client of a plan. seen are the addresses of the
// clients before: people who share one would count as often as they are.
func (j *Job) asksFor(plan mapping.Plan, seen map[string]bool) (bool, error) {
	if len(plan.Steps) == 0 || !j.looksUp(plan) || j.leavesOut(plan) != "" {
		return false, nil
	}
	asked := askedBy(plan.Lookup)
	before := slices.ContainsFunc(asked, func(address string) bool { return seen[address] })
	for _, address := range mapping.Addresses(plan.Addresses) {
		seen[address] = true
	}
	if before {
		return false, nil
	}
	steps, err := j.knownSteps(plan)
	if err != nil {
		return false, err
	}
	for _, step := range steps {
		if step.Attempts > 0 || step.State != ledger.Refused { // it may have been sent
			return false, nil
		}
	}
	_, owned, err := j.addressOwner(plan.Client, asked, mapping.Addresses(plan.Addresses))
	return !owned, err
}

// trust records that the ledger is not suspect, unless the run takes only some of the clients, which
// say little.
func (j *Job) trust() error {
	if !j.NewLedger && (j.Limit > 0 || j.Only != (mapping.Identity{})) {
		return nil
	}
	return j.Ledger.Trust(j.Environment)
}

// Growth returns a problem for each activity that is new since the mapping last ran: it says for
// how many known clients the activity will be sent. plans are those of the whole sheet; they are
// read only when an activity is new. The error is the ledger's or the sheet's.
func (j *Job) Growth(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) (problem.List, error) {
	m := j.Binding.Mapping()
	definitions, err := j.Ledger.Definitions(ctx, j.Environment)
	then, known := definitions[m.Name.Text]
	if err != nil || !known || len(j.Binding.Redefined(then)) > 0 {
		return nil, err
	}
	grown := j.Binding.Grown(then)
	if len(grown) == 0 {
		return nil, nil
	}
	if err := j.loadErased(); err != nil {
		return nil, err
	}
	clients, open := make([]int, len(grown)), make([]bool, len(grown))
	for plan, err := range plans {
		if err != nil {
			return nil, err
		}
		if len(plan.Steps) == 0 || j.leavesOut(plan) != "" {
			continue
		}
		known, err := j.readSteps(plan)
		if err != nil {
			return nil, err
		}
		if known[string(mapping.ClientStep)].State != ledger.Done {
			continue
		}
		for i, g := range grown {
			isNew := func(s mapping.Step) bool { return strings.HasPrefix(s.Key, g.Steps) && known[s.Key].State == "" }
			if at := slices.IndexFunc(plan.Steps, isNew); at >= 0 {
				clients[i]++
				open[i] = open[i] || plan.Steps[at].Activity.Status == mapping.Open
			}
		}
	}
	var said problem.List
	for i, g := range grown {
		if clients[i] == 0 {
			continue
		}
		receivers := fmt.Sprintf("%d known clients", clients[i])
		if clients[i] == 1 {
			receivers = "1 known client"
		}
		p := problem.At(m.At(g.At), "grown", "the activity “%s” is new since the mapping last ran: it will be sent for %s", g.Now, receivers)
		if open[i] {
			p = p.Hinted("it is opened for clients that have finished their earlier activities too; they get no new link")
		}
		said = append(said, p)
	}
	return said, nil
}

// CheckMovedClaims needs fewestMoved new claims to say that claims were moved, and looks at no more
// than maxMoved.
const (
	fewestMoved = 10
	maxMoved    = 200
)

// CheckMovedClaims refuses a sheet in which more than half of the first new claims have keys that
// are done under other clients of the mapping, as when a column was sorted alone: they would
// all be made again, for the wrong clients. Where they are fewer, it returns a warning: a client's key
// may have been corrected, or several clients have one agreement. Keys that several clients have, in the sheet or in
// the ledger, do not count. The error is a problem.Problem, or the ledger's or the sheet's.
func (j *Job) CheckMovedClaims(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) (warning problem.List, err error) {
	m := j.Binding.Mapping()
	if has, err := j.Ledger.HasSteps(ctx, j.Environment, m.Name.Text, ledger.KindClaim+"/"); err != nil || !has {
		return nil, err
	}
	newClaims, read := map[string]mapping.Identity{}, 0 // the client of each; the zero Identity for several
	rows := map[string]cell.Row{}                       // the first of each
	for chunk, err := range chunked(plans, readAhead) {
		if err != nil {
			return nil, err
		}
		owners := make([]ledger.ClientKey, len(chunk))
		for i, plan := range chunk {
			owners[i] = j.clientKey(plan.Client)
		}
		known, err := j.Ledger.BriefStepsOfClients(ctx, j.Environment, m.Name.Text, owners)
		if err != nil {
			return nil, err
		}
		for i, plan := range chunk {
			for _, step := range plan.Steps {
				if _, was := known[i][step.Key]; was || step.Kind != mapping.ClaimStep || step.KnownID != "" {
					continue
				}
				who, seen := newClaims[step.Key]
				newClaims[step.Key], rows[step.Key] = plan.Client, step.Rows[0]
				if seen && who != plan.Client {
					newClaims[step.Key] = mapping.Identity{}
				}
			}
		}
		if read += len(chunk); read >= maxRead || len(newClaims) >= maxMoved {
			break
		}
	}
	maps.DeleteFunc(newClaims, func(_ string, who mapping.Identity) bool { return who == mapping.Identity{} })
	done, err := j.Ledger.ClientsWithSteps(ctx, j.Environment, m.Name.Text, slices.Sorted(maps.Keys(newClaims)))
	var places []string
	for _, key := range slices.SortedFunc(maps.Keys(newClaims), func(a, b string) int { return cmp.Compare(rows[a], rows[b]) }) {
		if of := done[key]; len(of) == 1 && of[0] != j.clientKey(newClaims[key]) {
			places = append(places, j.Binding.AtRow(rows[key]).String())
		}
	}
	moved := len(places)
	switch {
	case err != nil || moved == 0:
		return nil, err
	case len(newClaims) < fewestMoved || moved*2 <= len(newClaims):
		first := strings.Join(places[:min(moved, maxTroubled)], ", ")
		return problem.List{problem.New("claims-moved",
			"%d of the first %d new claims of the sheet are done under other clients, and are made again for these: %s", moved, len(newClaims), first).
			Hinted("where the key of a client was only corrected, write it as before: else the client and the claims exist twice")}, nil
	}
	return nil, problem.New("claims-moved",
		"%d of the first %d new claims of the sheet are done under other clients: it looks as if a column was sorted alone, and they would be made again for the wrong clients", moved, len(newClaims)).
		Hinted("compare the sheet with the last one; if these claims have other clients now, add --accept claims-moved")
}
