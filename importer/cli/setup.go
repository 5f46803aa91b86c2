package cli

import (
	"context"
	"errors"
	"iter"
	"os"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// setup is what a command works with: mapping, environment, sheet and
// templates, each checked and bound to the others.
type setup struct {
	mapping  *mapping.Mapping
	env      *environment.Environment
	scope    string // the environment as the ledger knows it
	state    string // the state folder of this environment
	input    *input
	reader   table
	results  *resultSheet // the reader of a rerun; nil for a run
	service  *apiclient.Client
	binding  *mapping.Binding
	warnings []problem.Problem
	closers  []func()
}

// table is the sheet that a run reads.
type table interface {
	Sheet() mapping.Sheet
	// Records are the rows below the header. A Record's cells are valid until
	// the next one.
	Records() iter.Seq2[mapping.Record, error]
}

func (s *setup) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}

// settings say what a command wants of its setup.
type settings struct {
	place
	sheet       string                // the sheet's path; "" for none
	origin      *origin               // set when the sheet is a results workbook
	keepIn      func(s *setup) string // the folder for the sheet's copy; nil or "" for a temporary one
	environment bool                  // an environment is needed
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
	collect := func(err error) error { return addProblems(&found, err) }

	if err := collect(s.readMapping(want.mapping)); err != nil {
		return s, err
	}
	if want.environment {
		if err := collect(s.chooseEnvironment(want.place)); err != nil {
			return s, err
		}
	}
	if want.origin != nil && s.env != nil && s.mapping.Name.Text != "" {
		if err := want.origin.refuses(s); err != nil {
			return s, err
		}
	}
	if want.sheet != "" {
		if err := collect(s.openSheet(want)); err != nil {
			return s, err
		}
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
	if want.origin != nil && s.binding != nil {
		if err := collect(want.origin.refusesKeys(s)); err != nil {
			return s, err
		}
	}
	found.Sort()
	return s, found.Err()
}

// addProblems takes the problems out of an error, and returns one that is
// something else.
func addProblems(found *problem.List, err error) error {
	var list problem.List
	var p problem.Problem
	switch {
	case errors.As(err, &list):
		*found = append(*found, list...)
	case errors.As(err, &p):
		*found = append(*found, p)
	default:
		return err
	}
	return nil
}

func (s *setup) readMapping(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		s.mapping, _ = mapping.Parse(path, nil)
		return cannotRead(path, err)
	}
	var found problem.List
	s.mapping, found = mapping.Parse(path, data)
	return found.Err()
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
	s.env, s.state, s.warnings = env, where.stateFolder(env, path), env.Warnings()
	s.scope = env.Identity(apiclient.Version(s.mapping.API.Text))
	return refuseShared(s.state)
}

func (s *setup) openSheet(want settings) error {
	folder := ""
	if want.keepIn != nil {
		folder = want.keepIn(s)
	}
	in, err := keepInput(want.sheet, folder)
	if err != nil {
		return err
	}
	s.input = in
	s.closers = append(s.closers, func() { in.remove() })
	if want.origin != nil {
		if s.results, err = openResults(in, want.origin); err != nil {
			return err
		}
		s.reader = s.results
		s.closers = append(s.closers, func() { _ = s.results.Close() })
		return nil
	}
	if err := refuseResults(want.sheet, in.path); err != nil {
		return err
	}
	r, err := in.open(sheet.Options{Name: s.mapping.Sheet.Name.Text, HeaderRow: s.mapping.Sheet.HeaderRow})
	if err != nil {
		return err
	}
	s.reader = r
	s.closers = append(s.closers, func() { _ = r.Close() })
	return nil
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
	err := importer.Patiently(ctx, func() (err error) {
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
			known.Attributes = append(known.Attributes, mapping.AttributeTemplate{ID: a.ID, Name: a.Name, Type: mapping.Type(a.DataType)})
		}
		service.Templates = append(service.Templates, known)
	}
	return service, nil
}

func (s *setup) bind(service *mapping.Service) error {
	var table *mapping.Sheet
	if s.reader != nil {
		sheet := s.reader.Sheet()
		sheet.File = s.input.given
		table = &sheet
	}
	binding, found := mapping.Bind(s.mapping, table, service, s.today())
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
