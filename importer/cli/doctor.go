package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const doctorHelp = `It fetches the secrets, opens a connection, authenticates, reads the templates, and learns what a look-up answers that
finds nobody. Each check is a line: ok, warn (works, but look at it) or fail (a run would not work). Nothing but GETs
reaches the service; with oauth2 one token is asked for. Give -m to try what a mapping needs (its version and claim
type) and to check it against the templates.
Exit codes: 0 nothing failed, 2 the configuration is wrong, 3 the service cannot be used as it is.`

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:        "doctor",
		Usage:       "try an environment: secrets, connection, authentication, templates, look-ups; sends GETs only",
		UsageText:   "claimsheet doctor [-e ENVIRONMENT] [-m FILE]",
		Description: doctorHelp,
		Flags:       placeFlags(),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return problem.New("usage", "claimsheet doctor takes no arguments").Hinted("name the environment with -e")
			}
			return p.doctor(c.Context, p.placeOf(c))
		},
	}
}

func (p *program) doctor(ctx context.Context, where place) error {
	s := &setup{mapping: &mapping.Mapping{}}
	defer s.close()
	var file problem.List // what is wrong with the mapping file by itself
	if where.mapping != "" {
		if err := file.Collect(s.readMapping(where.mapping)); err != nil {
			return err
		}
	}
	if err := s.chooseEnvironment(where); err != nil {
		if err := file.Collect(err); err != nil {
			return err
		}
		return file.Err()
	}
	version := apiclient.Version(s.mapping.API.Text)
	if version == "" {
		version = likelyVersion(s.env.CaseID, s.env.Sandbox)
	}
	d := &diagnosis{p: p}
	d.say(apiclient.Finding{Check: "environment", Grade: apiclient.OK,
		Text: fmt.Sprintf("%s, version %s, %s", s.env.Name, strings.TrimPrefix(string(version), "v"), s.env.BaseURL)})
	s.mapping.API.Text = string(version)
	if err := d.secrets(ctx, s, where); err != nil {
		if err := file.Collect(err); err != nil {
			return err
		}
		return file.Err()
	}
	for finding := range s.service.Examine(ctx) {
		d.say(finding)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if where.mapping == "" {
		return d.verdict()
	}
	return d.mapping(ctx, s, file)
}

// mapping checks the mapping against the service's templates, as check does.
// file is what was found wrong with it before.
func (d *diagnosis) mapping(ctx context.Context, s *setup, file problem.List) error {
	if d.failed > 0 { // the templates may be what failed
		d.wrong(file)
		return d.verdict()
	}
	before := len(s.warnings)
	service, err := s.readTemplates(ctx)
	if err != nil {
		return err
	}
	if err := file.Collect(s.bind(service)); err != nil {
		return err
	}
	warnings := append(s.mapping.Warnings, s.warnings[before:]...)
	if s.binding != nil {
		_, untyped := s.binding.CheckTypes(mapping.TypedCells{})
		warnings = append(warnings, untyped...)
	}
	for _, w := range warnings {
		d.say(apiclient.Finding{Check: "mapping", Grade: apiclient.Warn, Text: w.Error(), Hint: w.Hint})
	}
	file.Sort()
	if d.wrong(file); len(file) > 0 {
		return problem.New("doctor", "%s", counted(len(file)))
	}
	d.say(apiclient.Finding{Check: "mapping", Grade: apiclient.OK, Text: s.mapping.File + " fits the templates; claimsheet check with a SHEET checks columns too"})
	return d.verdict()
}

// wrong prints what is wrong with the mapping.
func (d *diagnosis) wrong(list problem.List) {
	for _, p := range list {
		d.say(apiclient.Finding{Check: "mapping", Grade: apiclient.Fail, Text: p.Error(), Hint: p.Hint})
	}
}

// likelyVersion is the version to try when no mapping tells: 1 where there is
// a case for it.
func likelyVersion(caseID string, sandbox bool) apiclient.Version {
	if caseID != "" && !sandbox {
		return apiclient.V1
	}
	return apiclient.V2
}

// diagnosis prints findings and counts them.
type diagnosis struct {
	p             *program
	failed, warns int
}

func (d *diagnosis) say(f apiclient.Finding) {
	switch f.Grade {
	case apiclient.Fail:
		d.failed++
	case apiclient.Warn:
		d.warns++
	}
	fmt.Fprintf(d.p.Out, "%-4s  %s: %s\n", f.Grade, f.Check, problem.OneLine(f.Text))
	if f.Hint != "" {
		fmt.Fprintf(d.p.Out, "      %s\n", problem.OneLine(f.Hint))
	}
}

// secrets fetches them and reads the TLS files, which makes the client, and
// tells what else is wrong with the configuration.
func (d *diagnosis) secrets(ctx context.Context, s *setup, where place) error {
	for _, w := range s.warnings {
		d.say(apiclient.Finding{Check: "secrets", Grade: apiclient.Warn, Text: w.Error(), Hint: w.Hint})
	}
	err := s.connect(ctx, settings{place: where, readOnly: true, run: uuid.NewString()})
	var found problem.List
	if err != nil && found.Collect(err) != nil {
		return err
	}
	if err := found.Collect(s.checkAgreement()); err != nil {
		return err
	}
	for _, p := range found {
		d.say(apiclient.Finding{Check: "configuration", Grade: apiclient.Fail, Text: p.Error(), Hint: p.Hint})
	}
	if len(found) > 0 {
		return problem.New("doctor", "%s; the service was not tried", counted(len(found)))
	}
	text := "none are needed"
	if names := s.env.Secrets(); len(names) > 0 {
		text = "fetched: " + strings.Join(names, ", ")
	}
	d.say(apiclient.Finding{Check: "secrets", Grade: apiclient.OK, Text: text})
	return nil
}

// verdict ends the diagnosis.
func (d *diagnosis) verdict() error {
	switch {
	case d.failed > 0:
		return errors.New(counted(d.failed) + "; what depends on it was not tried")
	case d.warns > 0:
		fmt.Fprintln(d.p.Out, "It can be used as it is; see the warnings.")
	default:
		fmt.Fprintln(d.p.Out, "All is well.")
	}
	return nil
}

func counted(failed int) string {
	if failed == 1 {
		return "1 check failed"
	}
	return fmt.Sprintf("%d checks failed", failed)
}
