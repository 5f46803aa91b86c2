package cli

import (
	"context"
	"slices"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

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
