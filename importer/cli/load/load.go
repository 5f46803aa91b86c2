// Package load loads what a command works with: mapping, environment, sheets and the service's templates. Open checks each against the
// others and reports the problems of all of them at once. A Session also finds, locks and opens the environment's ledger.
package load

import (
	"context"
	"errors"
	"os"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Where says where things are: what every command takes that uses an environment. Empty fields have the defaults that the flags document.
type Where struct {
	Mapping      string // the mapping file
	Env          string // the environment's name
	Environments string // the environments file
	State        string // the state folder
	Ledger       string // the url of the ledger's database, or a reference to it; "" for the environment's
	Templates    string // a file with the sandbox's reference data
	MustName     bool   // an environment is not taken only because the file has no other
	NewLedger    bool   // a ledger that is missing may be made, also where there was one
}

// StateDir returns the state folder of an environment; "" when nothing says where it is. The sandbox has a folder of its own in it.
func (w Where) StateDir(sandbox bool) string {
	file, _ := environment.Find(w.Mapping, w.Environments)
	folder := StatePath(w.Mapping, file, w.State)
	if sandbox && folder != "" {
		return SandboxFolder(folder)
	}
	return folder
}

// Options say what a command needs.
type Options struct {
	Where
	Sheets          []string          // paths
	Workbook        *workbook.Results // of the one of Sheets when it is a results workbook; else nil
	Password        string            // opens encrypted sheets
	NeedEnvironment bool              // choose an environment; without one the service is not asked
	KeepInputs      bool              // put the copies of the sheets into the state folder
	// Copied is cell.Sheet.Copied of each of Sheets; nil when no results workbook will be written.
	Copied []func(column, row int) problem.Copy
	Connection
}

// Session is what was loaded. Fields are nil or empty when they were not asked for, or could not be loaded.
type Session struct {
	Mapping     *mapping.Mapping
	Env         *environment.Environment
	State       string // the environment's state folder; "" when nothing says where it is
	Inputs      []*Input
	Client      *apiclient.Client
	Binding     *mapping.Binding
	Service     *mapping.Service // what Mapping is bound to; nil when the service was not asked
	MappingText []byte           // the content of the mapping file
	Warnings    problem.List     // except those of the mapping file, which Mapping has
	Wrong       problem.List     // set by OpenConfiguration: what is wrong with the mapping file
	RunDate     string           // that the mapping was bound with
	Place       LedgerPlace      // set by Locate
	Ledger      *ledger.Ledger   // nil until it is opened

	where      Where
	release    func() // unlocks the ledger; nil while it is not locked
	connection Connection
	closers    []func()
}

// Open loads and binds everything, and collects the problems of mapping, environment, sheets and templates before it fails. After an error
// the session is closed, and has what was loaded so far.
func Open(ctx context.Context, o Options) (s *Session, err error) {
	s = &Session{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if o.Mapping == "" {
		return s, problem.New("no-mapping", "no mapping is given, and there is no mapping.yaml in this folder").
			Hinted("name one with -m: claimsheet run -m mapping.yaml leads.xlsx")
	}
	var found problem.List
	if err := found.Collect(s.readMapping(o.Mapping)); err != nil {
		return s, err
	}
	if len(found) == 1 && found[0].Code == "other-file" { // what follows would be wrong because of it
		return s, found.Err()
	}
	if o.NeedEnvironment {
		if err := found.Collect(s.chooseEnvironment(o.Where)); err != nil {
			return s, err
		}
	}
	if err := found.Collect(s.CheckAgreement()); err != nil {
		return s, err
	}
	// The ledger knows steps by environment and mapping. A changed base url is checked later, when the ledger is open.
	if b := o.Workbook; b != nil && s.Env != nil && s.Mapping.Name.Text != "" {
		if b.EnvironmentName != s.Env.Name {
			if err := b.CheckEnvironment(s.Env.Name, s.Scope()); err != nil {
				return s, err
			}
		}
		if err := b.CheckMapping(s.Mapping); err != nil {
			return s, err
		}
	}
	if err := found.Collect(s.openSheets(o)); err != nil {
		return s, err
	}
	if version := apiclient.Version(s.Mapping.API.Text); s.Env != nil && version != "" {
		if err := found.Collect(s.Connect(ctx, version, o.Connection)); err != nil {
			return s, err
		}
		if s.Client != nil {
			s.Service, err = s.AskTemplates(ctx)
		}
		if err := found.Collect(err); err != nil && len(found) == 0 { // else the service may fail because of these problems
			return s, err
		}
	}
	if err := found.Collect(s.Bind(s.Service)); err != nil {
		return s, err
	}
	if o.Workbook != nil && s.Binding != nil && len(found) == 0 { // else another problem may have changed the key space
		if err := found.Collect(o.Workbook.CheckKeySpace(s.Mapping, s.Binding.KeySpace())); err != nil {
			return s, err
		}
	}
	found.Sort()
	return s, found.Err()
}

// Close closes the sheets, removes the copies that are not kept, and stops the sandbox.
func (s *Session) Close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
	s.closers = nil
}

// OpenEnvironment chooses the environment and its state folder. The mapping must exist and is not read: it is a place to look beside.
func OpenEnvironment(where Where) (*Session, error) {
	s := &Session{}
	if where.Mapping != "" {
		if _, err := os.Stat(where.Mapping); err != nil {
			return s, safefile.Unreadable(where.Mapping, err)
		}
	}
	return s, s.chooseEnvironment(where)
}

// OpenConfiguration reads the mapping, if where names one, and chooses the environment. What is wrong with the mapping file is in Wrong, and
// is no error; when there is no environment either, the error has all problems.
func OpenConfiguration(where Where) (*Session, error) {
	s := &Session{Mapping: &mapping.Mapping{}}
	if where.Mapping != "" {
		if err := s.Wrong.Collect(s.readMapping(where.Mapping)); err != nil {
			return s, err
		}
	}
	err := s.Wrong.Collect(s.chooseEnvironment(where))
	if err == nil && s.Env == nil {
		err = s.Wrong.Err()
	}
	return s, err
}

func (s *Session) readMapping(path string) error {
	data, err := safefile.Read(path, mapping.MaxSize)
	if err != nil {
		s.Mapping, _ = mapping.Parse(path, nil)
		return err
	}
	var found problem.List
	s.MappingText = data
	s.Mapping, found = mapping.Parse(path, data)
	return found.Err()
}

// CheckAgreement refuses a mapping with placeholders for a real service, and one without a client field that the environment compares
// before it reuses a client.
func (s *Session) CheckAgreement() error {
	if s.Env == nil {
		return nil
	}
	var found problem.List
	if !s.Env.Sandbox {
		found = s.Mapping.Placeholders()
	}
	client := s.Mapping.Client
	if client.Existing != mapping.Reuse || len(client.Fields) == 0 {
		return found.Err()
	}
	fields := make([]string, len(client.Fields))
	for i, f := range client.Fields {
		fields[i] = f.Name.Text
	}
	return append(found, s.Env.CheckAgreement(fields)...).Err()
}

// chooseEnvironment chooses the environment that where names, or the default one, or the only one.
func (s *Session) chooseEnvironment(where Where) error {
	s.where = where
	var file *environment.File
	if path, ok := environment.Find(where.Mapping, where.Environments); ok {
		var err error
		if file, err = environment.Load(path); err != nil {
			return err
		}
	}
	name := where.Env
	if names := file.Names(); name == "" && !where.MustName && len(names) == 1 && file.Default == "" {
		name = names[0]
	}
	env, err := file.Choose(name)
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
	return CheckState(s.State)
}

// Scope returns the environment's name in the ledger, as the base url and the mapping's version make it.
func (s *Session) Scope() string {
	return s.Env.Identity(apiclient.Version(s.Mapping.API.Text))
}

// Bind binds the mapping to the sheets and the service, nil when the service is not known.
func (s *Session) Bind(service *mapping.Service) error {
	var sheets []cell.Sheet
	for _, src := range s.Inputs {
		sheets = append(sheets, src.Sheet())
	}
	s.RunDate = Today(s.Mapping)
	binding, found := mapping.BindAll(s.Mapping, sheets, service, s.RunDate)
	s.Binding = binding
	return found.Err()
}

// Today returns the date of a run in the timezone of the mapping's sheet.
func Today(m *mapping.Mapping) string {
	zone := time.Local
	if name := m.Sheet.Timezone.Text; name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			zone = z
		}
	}
	return time.Now().In(zone).Format(time.DateOnly)
}
