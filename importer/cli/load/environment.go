package load

import (
	"errors"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/mapping/problem"
)

// Where says where things are: what every command takes that uses an environment.
// Empty fields have the defaults that the flags document.
type Where struct {
	Mapping      string // the mapping file
	Env          string // the environment's name
	Environments string // the environments file
	State        string // the state folder
	Ledger       string // the url of the ledger's database, or a reference to it; "" for the environment's
	Templates    string // a file with the sandbox's reference data
	MustName     bool   // an environment is not taken only because the file has no other
}

// StateDir returns the state folder of an environment; "" when nothing says where
// it is. The sandbox has a folder of its own in it.
func (w Where) StateDir(sandbox bool) string {
	file, _ := environment.Find(w.Mapping, w.Environments)
	folder := statefolder.Path(w.Mapping, file, w.State)
	if sandbox && folder != "" {
		return statefolder.Sandbox(folder)
	}
	return folder
}

// choose returns the environment of that name, or the default one, or the only one.
func (w Where) choose() (*environment.Environment, error) {
	var file *environment.File
	if path, ok := environment.Find(w.Mapping, w.Environments); ok {
		var err error
		if file, err = environment.Load(path); err != nil {
			return nil, err
		}
	}
	if names := file.Names(); w.Env == "" && !w.MustName && len(names) == 1 && file.Default == "" {
		return file.Choose(names[0])
	}
	return file.Choose(w.Env)
}

func (s *Session) chooseEnvironment(where Where) error {
	s.where = where
	env, err := where.choose()
	if err != nil {
		return err
	}
	if s.Mapping != nil {
		claimType := s.Mapping.ClaimType
		if env, err = env.ForClaimType(claimType.Text); err != nil {
			if p, ok := errors.AsType[problem.Problem](err); ok && p.Where.File == "" {
				p.Where = s.Mapping.At(claimType.At)
				return p
			}
			return err
		}
	}
	s.Env, s.State, s.Warnings = env, where.StateDir(env.Sandbox), env.Warnings()
	return statefolder.Check(s.State)
}

// Scope returns the environment's name in the ledger, as the base url and the
// mapping's version make it.
func (s *Session) Scope() string {
	return s.Env.Identity(apiclient.Version(s.Mapping.API.Text))
}
