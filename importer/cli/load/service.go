package load

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// Connection says how the service is used.
type Connection struct {
	ReadOnly    bool          // send nothing but GETs
	Concurrency int           // requests in flight; 0 for the environment's
	Rate        float64       // requests per second; 0 for the environment's
	UserAgent   string        // names the program and the run
	AskAgain    time.Duration // wait before a failed GET is sent again; 0 for the engine's
	Shared      bool          // the rate is that of all processes that use the session's ledger, where that is in a database

	// Wrap and Trace are those of apiclient.Config.
	Wrap  func(net.Conn) net.Conn
	Trace func(apiclient.Exchange)
}

// Version returns the version of the interface to use: given, else the mapping's, else 1 for an environment with a case, else 2.
func (s *Session) Version(given string) apiclient.Version {
	switch {
	case given != "":
		return apiclient.Version(given)
	case s.Mapping != nil && s.Mapping.API.Text != "":
		return apiclient.Version(s.Mapping.API.Text)
	case s.Env.CaseID != "" && !s.Env.Sandbox:
		return apiclient.V1
	}
	return apiclient.V2
}

// Connect makes the client of the service; for the sandbox it starts the embedded service. Nothing is sent yet, except for credentials.
func (s *Session) Connect(ctx context.Context, version apiclient.Version, c Connection) error {
	s.connection = c
	cfg, err := s.Env.Config(ctx, version)
	if err != nil {
		return err
	}
	cfg.Wrap, cfg.Trace, cfg.ReadOnly, cfg.UserAgent, cfg.InventPhone = c.Wrap, c.Trace, c.ReadOnly, c.UserAgent, s.Mapping.InventPhone()
	if s.Env.Sandbox {
		service, err := s.startSandbox()
		if err != nil {
			return err
		}
		cfg.Transport = apiclient.InProcess(service)
	} else if s.where.Templates != "" {
		return problem.New("not-sandbox", "--templates gives the sandbox its reference data; the environment “%s” has its own", s.Env.Name).
			Hinted("leave it out, or use -e sandbox")
	}
	if c.Concurrency > 0 {
		cfg.Concurrency = c.Concurrency
	}
	if c.Rate > 0 {
		cfg.RequestsPerSecond = c.Rate
	}
	if c.Shared {
		if err := s.Locate(ctx); err != nil {
			return err
		}
	}
	if c.Shared && s.Place.Server != nil {
		limiter := postgres.NewLimiter(*s.Place.Server, apiclient.ServiceKey(s.Env.BaseURL))
		s.closers = append(s.closers, func() { _ = limiter.Close() })
		cfg.Limiter = limiter
	}
	s.Client, err = apiclient.New(cfg)
	return err
}

// startSandbox starts the embedded service with what it held after the last run.
func (s *Session) startSandbox() (*sandbox.Service, error) {
	templates, err := ReferenceData(s.where.Templates)
	if err != nil {
		return nil, err
	}
	dir := s.State
	if _, err := os.Stat(dir); s.connection.ReadOnly && errors.Is(err, fs.ErrNotExist) {
		dir = "" // in memory: nothing was made here, and nothing will be
	}
	service, err := sandbox.New(sandbox.Options{Dir: dir, Templates: templates, BaseURL: "http://" + sandbox.DefaultAddress})
	if err != nil {
		return nil, problem.New("sandbox", "the sandbox cannot start: %v", err).
			Hinted("to begin with an empty sandbox: %s", s.ResetCommand())
	}
	s.closers = append(s.closers, func() { _ = service.Close() })
	return service, nil
}

// ResetCommand is the command that empties the sandbox of the session.
func (s *Session) ResetCommand() string {
	return "claimsheet sandbox --reset --state " + problem.OneLine(filepath.Dir(s.State))
}

// maxReferenceData is the size of the largest file with reference data, in bytes.
const maxReferenceData = 64 << 20

// ReferenceData reads a file with the sandbox's reference data; nil without one.
func ReferenceData(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	return safefile.Read(path, maxReferenceData)
}

// AskTemplates reads the reference data if the mapping has activities, and the ids of contacts that the environment has.
func (s *Session) AskTemplates(ctx context.Context) (*mapping.Service, error) {
	ids, err := s.contactIDs()
	if err != nil {
		return nil, err
	}
	service := s.service(nil)
	if len(s.Mapping.Activities) > 0 {
		if service, err = s.ListTemplates(ctx); err != nil {
			return nil, err
		}
	}
	service.ContactIDs = ids
	return service, nil
}

// contactIDs reads the ids of contacts that the environment has and the mapping names.
func (s *Session) contactIDs() (map[string]string, error) {
	ids := map[string]string{}
	var found problem.List
	for _, ref := range s.Mapping.ContactReferences() {
		id, err := environment.ReadID(filepath.Dir(s.Mapping.File), ref.Text)
		if err == nil {
			var wrong *convert.CellError
			if id, wrong = convert.ParseID(id); wrong != nil {
				err = errors.New("what it holds " + wrong.Message)
			}
		}
		if err != nil {
			found = append(found, problem.At(s.Mapping.At(ref.At), "contact-id", "the contact's id cannot be read from %s: %v",
				problem.OneLine(ref.Text), err).
				Hinted("put the id of the contact in the environment “%s” there, as the service shows it", s.Env.Name))
		}
		ids[ref.Text] = id
	}
	return ids, found.Err()
}

// ListTemplates reads the reference data, whatever the mapping is, and asks again where the service does not answer.
func (s *Session) ListTemplates(ctx context.Context) (*mapping.Service, error) {
	var templates []apiclient.Template
	var notes []string
	err := apiclient.RetryGET(ctx, apiclient.MaxAttempts, s.connection.AskAgain, func() (err error) {
		templates, notes, err = s.Client.Templates(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		s.Warnings = append(s.Warnings, problem.New("template-note", "%s", note))
	}
	listed := []mapping.Template{}
	for _, t := range templates {
		one := mapping.Template{ID: t.ID, Name: t.Name, Attributes: []mapping.AttributeTemplate{}}
		for _, a := range t.Attributes {
			one.Attributes = append(one.Attributes, mapping.AttributeTemplate{ID: a.ID, Name: a.Name, Type: convert.Type(a.DataType), Options: a.Options})
		}
		listed = append(listed, one)
	}
	return s.service(listed), nil
}

// service is what a mapping is bound to.
func (s *Session) service(templates []mapping.Template) *mapping.Service {
	return &mapping.Service{Environment: s.Env.Name, Templates: templates, TemplateIDs: s.Env.TemplateIDs,
		WorkflowTemplateIdentifier: s.Env.WorkflowTemplateIdentifier}
}
