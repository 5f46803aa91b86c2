package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/retry"
	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// setup is what a command works with: mapping, environment, sheet and
// templates, each checked and bound to the others.
type setup struct {
	mapping  *mapping.Mapping
	env      *environment.Environment
	scope    string      // the environment as the ledger knows it
	state    string      // the state folder of this environment
	sources  []*source   // the sheets of the run, in order
	rows     *spool.Rows // of all sources; set by a run
	service  *apiclient.Client
	binding  *mapping.Binding
	warnings []problem.Problem
	closers  []func()
	pace     pace

	olderLedger bool // the ledger may have lost what was committed to it: a person knows
}

// fromWorkbooks reports whether the sources are results workbooks.
func (s *setup) fromWorkbooks() bool { return len(s.sources) > 0 && s.sources[0].origin != nil }

func (s *setup) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}

// settings say what a command wants of its setup.
type settings struct {
	place
	sheets      []string              // the sheets' paths
	password    string                // opens encrypted ones
	origins     []*origin             // of the sheets, when they are results workbooks
	keepIn      func(s *setup) string // the folder for the sheets' copies; nil or "" for a temporary one
	environment bool                  // an environment is needed
	corrected   bool                  // a results workbook will be written, in which people correct cells
	readOnly    bool                  // nothing but GETs may leave
	rate        float64               // requests per second; 0 takes the environment's
	run         string                // the run's id, for the User-Agent
}

// prepare loads and binds everything and collects every problem of the
// mapping, the environment, the sheet and the templates before it gives up.
// The setup must be closed, also after an error.
func prepare(ctx context.Context, want settings) (*setup, error) {
	s := &setup{}
	if want.mapping == "" {
		return s, problem.New("no-mapping", "no mapping is given").Hinted("name one with -m: claimsheet run -m mapping.yaml leads.xlsx")
	}
	var found problem.List
	collect := func(err error) error { return found.Collect(err) }

	if err := collect(s.readMapping(want.mapping)); err != nil {
		return s, err
	}
	if want.environment {
		if err := collect(s.chooseEnvironment(want.place)); err != nil {
			return s, err
		}
	}
	if err := collect(s.checkAgreement()); err != nil {
		return s, err
	}
	if s.env != nil && s.mapping.Name.Text != "" {
		for _, from := range want.origins {
			if err := from.refuses(s); err != nil {
				return s, err
			}
		}
	}
	if err := collect(s.openSheets(want)); err != nil {
		return s, err
	}
	var service *mapping.Service
	if s.env != nil && s.mapping.API.Text != "" {
		if err := collect(s.connect(ctx, want)); err != nil {
			return s, err
		}
		if s.service != nil {
			var err error
			if service, err = s.readTemplates(ctx); err != nil && len(found) == 0 {
				return s, err
			}
		}
	}
	if err := collect(s.bind(service)); err != nil {
		return s, err
	}
	for _, from := range want.origins {
		if s.binding == nil {
			break
		}
		if err := collect(from.refusesKeys(s)); err != nil {
			return s, err
		}
	}
	found.Sort()
	return s, found.Err()
}

func (s *setup) readMapping(path string) error {
	data, err := safefile.Read(path, mapping.MaxSize)
	if err != nil {
		s.mapping, _ = mapping.Parse(path, nil)
		return err
	}
	var found problem.List
	s.mapping, found = mapping.Parse(path, data)
	return found.Err()
}

// allWarnings are those of the mapping file, and of all else.
func (s *setup) allWarnings() problem.List {
	var list problem.List
	if s.mapping != nil {
		list = append(list, s.mapping.Warnings...)
	}
	return append(list, s.warnings...)
}

func (s *setup) chooseEnvironment(where place) error {
	var file *environment.File
	path, ok := environment.Find(where.mapping, where.environments)
	if ok {
		var err error
		if file, err = environment.Load(path); err != nil {
			return err
		}
	}
	env, err := file.Choose(where.env)
	if err != nil {
		return err
	}
	if env, err = env.ForClaimType(s.mapping.ClaimType.Text); err != nil {
		if p, ok := errors.AsType[problem.Problem](err); ok && p.Where.File == "" {
			p.Where = s.mapping.At(s.mapping.ClaimType.At)
			return p
		}
		return err
	}
	s.env, s.state, s.warnings, s.pace = env, where.stateFolder(env, path), env.Warnings(), where.pace
	s.scope = env.Identity(apiclient.Version(s.mapping.API.Text))
	return refuseShared(s.state)
}

// checkAgreement refuses an environment that compares a client field that the
// mapping does not fill before it takes a client over.
func (s *setup) checkAgreement() error {
	client := s.mapping.Client
	if s.env == nil || client.Existing != mapping.Reuse || len(client.Fields) == 0 {
		return nil
	}
	fields := make([]string, len(client.Fields))
	for i, f := range client.Fields {
		fields[i] = f.Name.Text
	}
	return s.env.CheckAgreement(fields).Err()
}

// sheetOptions are how the mapping reads its sheet.
func (s *setup) sheetOptions() sheet.Options {
	rule := s.mapping.Sheet
	return sheet.Options{Name: rule.Name.Text, HeaderRow: rule.HeaderRow, Encoding: rule.Encoding, Delimiter: rule.Delimiter}
}

// connect makes the client of the service; for the sandbox it starts the
// embedded one.
func (s *setup) connect(ctx context.Context, want settings) error {
	cfg, err := s.env.Config(ctx, apiclient.Version(s.mapping.API.Text))
	if err != nil {
		return err
	}
	if s.env.Sandbox {
		service, err := s.startSandbox(want)
		if err != nil {
			return err
		}
		cfg.Transport = apiclient.InProcess(service)
	} else if want.templates != "" {
		return problem.New("not-sandbox", "--templates gives the sandbox its reference data; the environment “%s” has its own", s.env.Name).
			Hinted("leave it out, or use -e sandbox")
	}
	cfg.ReadOnly = want.readOnly
	cfg.UserAgent = "claimsheet/" + Version + " run/" + want.run
	if want.rate > 0 {
		cfg.RequestsPerSecond = want.rate
	}
	s.service, err = apiclient.New(cfg)
	return err
}

// readTemplates reads the reference data when the mapping needs any.
func (s *setup) readTemplates(ctx context.Context) (*mapping.Service, error) {
	service := &mapping.Service{Environment: s.env.Name, TemplateIDs: s.env.TemplateIDs,
		WorkflowTemplateIdentifier: s.env.WorkflowTemplateIdentifier}
	if len(s.mapping.Activities) == 0 {
		return service, nil
	}
	var templates []apiclient.Template
	var notes []string
	err := retry.GET(ctx, retry.Attempts, s.pace.AskAgain, func() (err error) {
		templates, notes, err = s.service.Templates(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		s.warnings = append(s.warnings, problem.New("template-note", "%s", note))
	}
	for _, t := range templates {
		known := mapping.Template{ID: t.ID, Name: t.Name}
		for _, a := range t.Attributes {
			known.Attributes = append(known.Attributes, mapping.AttributeTemplate{ID: a.ID, Name: a.Name, Type: convert.Type(a.DataType)})
		}
		service.Templates = append(service.Templates, known)
	}
	if s.mapping.File != "" {
		s.warnings = append(s.warnings, mapping.StrayTemplateIDs(s.mapping, service)...)
	}
	return service, nil
}

func (s *setup) bind(service *mapping.Service) error {
	var sheets []cell.Sheet
	for i, src := range s.sources {
		sheets = append(sheets, src.sheet(i))
	}
	binding, found := mapping.BindAll(s.mapping, sheets, service, s.today())
	s.binding = binding
	return found.Err()
}

// today is the run's date, where the sheet was written.
func (s *setup) today() string {
	zone := time.Local
	if name := s.mapping.Sheet.Timezone.Text; name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			zone = z
		}
	}
	return time.Now().In(zone).Format(time.DateOnly)
}

// refuseShared refuses a state folder of another user, and one that other users
// of this machine could put files into, or exchange for another one: they could
// plant a ledger or a link there. What is not there yet will be made for this user alone. Windows
// has no such modes; its folders inherit who may do what.
func refuseShared(state string) error {
	if runtime.GOOS == "windows" || state == "" {
		return nil
	}
	dir, err := filepath.Abs(state)
	if err != nil {
		return err
	}
	if err := safefile.Owner(dir); err != nil {
		return err
	}
	for forbidden := os.FileMode(0o022); ; forbidden = 0o002 {
		info, err := os.Stat(dir)
		switch {
		case err != nil || !info.IsDir(): // whoever makes or opens something there will say so
		case info.Mode().Perm()&forbidden != 0 && (forbidden == 0o022 || info.Mode()&os.ModeSticky == 0):
			return problem.At(problem.Where{File: dir}, "state-folder", "other users can write to the folder (mode %04o), and so could change what the ledger says is done",
				info.Mode().Perm()).Hinted("%s; or name another state folder with --state", fix(dir, forbidden))
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir = above
	}
}

func fix(dir string, forbidden os.FileMode) string {
	if forbidden == 0o022 {
		return fmt.Sprintf("chmod go-w %s", dir)
	}
	return fmt.Sprintf("chmod o-w %s", dir)
}
