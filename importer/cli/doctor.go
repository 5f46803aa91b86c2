package cli

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/probe"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const doctorHelp = `It reads the secrets, opens a connection, authenticates, reads the templates, and learns how a look-up answers when it
finds nobody. It also compares the base url with that of the last run. Each check is a line: ok, warn (it works,
but look at it) or fail (a run would not work). Only GETs reach the service; with oauth2 one token is requested. Give -m to
try what a mapping needs (its version and claim type) and to check it against the templates.
Exit codes: 0 nothing failed, 2 the configuration is wrong, 3 the service cannot be used as it is.

With --probe it finds out how the service answers where its document leaves that open: where ids and redirect urls are, what
“not found” and refusals look like, and data types. It prints the lines for wire, not_found and errors of the environment, each
with the request and the answer that show it, and what it could not learn. Without --send it sends GETs only.
With --send it creates one test client with what belongs to it; the ledger knows all of it, so another probe creates nothing again.
Exit codes: 0 everything is known, 1 something is not, 2 the command or the configuration is wrong, 3 the service could not be used.

Examples:

    claimsheet doctor -e uat
    claimsheet doctor -e uat -m mapping.yaml
    claimsheet doctor -e uat --probe
    claimsheet doctor -e uat --probe --send --client me@example.com`

func (p *program) doctorCommand() *cli.Command {
	d := &diagnosis{program: p}
	return newCommand("doctor", "[options]\n--probe [--send --client E-MAIL] [options]",
		"try an environment: secrets, connection, authentication, templates, look-ups; --probe: how it answers", doctorHelp,
		p.placeFlags("the mapping `FILE` to check as well; default: none", p.templatesFlag(), p.ledgerFlag(),
			jsonFlag(), p.traceFlag(),
			switchFlag(&d.probes, "probe", "find out how the service answers, and print the lines for the environment"),
			switchFlag(&d.send, "send", "with --probe: create one test client, with a claim, activities and a link"),
			textFlag(&d.client, "client", "", "with --probe: the test client's `E-MAIL`; without --send the client is only looked up"),
			switchFlag(&d.yes, "yes", "with --send: do not ask")),
		func(c *cli.Context) error {
			if err := d.checkFlags(); err != nil {
				return err
			}
			s, err := load.OpenConfiguration(p.where)
			if err != nil {
				return err
			}
			p.session, p.closers = s, append(p.closers, s.Close, s.CloseLedger)
			version := s.Version("")
			s.Mapping.API.Text = string(version) // a mapping that lacks it is checked as the likely version
			if d.probes {
				return d.probe(c.Context, version)
			}
			return d.examine(c.Context, version)
		})
}

// examine tries an environment.
func (d *diagnosis) examine(ctx context.Context, version apiclient.Version) error {
	d.found.Environment = d.session.Env.Name
	defer func() { d.object = d.found }()
	d.say(apiclient.OK, "environment", "", "%s, version %s, %s", d.session.Env.Name, strings.TrimPrefix(string(version), "v"), d.session.Env.BaseURL)
	if err := d.connect(ctx, version); err != nil {
		if err := d.session.Wrong.Collect(err); err != nil {
			return err
		}
		return d.session.Wrong.Err()
	}
	for _, finding := range d.session.Client.Examine(ctx) {
		d.print(finding)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answered := d.failed == 0
	if err := d.ledger(ctx); err != nil {
		return err
	}
	if d.where.Mapping == "" {
		return d.verdict()
	}
	return d.mapping(ctx, answered)
}

// ledger tries the ledger's server and reads the whole ledger, which a run does only after a crash, and compares the base url with the one
// that the ledger knows: after a change, a run stops until the user says which service it leads to.
func (d *diagnosis) ledger(ctx context.Context) error {
	if d.session.State == "" {
		return nil
	}
	if err := d.session.Locate(ctx); err != nil {
		return err
	}
	place := d.session.Place
	if place.Server != nil {
		before := d.failed
		for _, f := range postgres.Examine(ctx, *place.Server) {
			grade := apiclient.OK
			switch {
			case f.Failed:
				grade = apiclient.Fail
			case f.Hint != "":
				grade = apiclient.Warn
			}
			d.say(grade, "ledger", f.Hint, "%s", f.Text)
		}
		if d.failed > before {
			return nil
		}
	}
	if there, err := place.Exists(ctx); err != nil || !there {
		return err
	}
	known, err := place.OpenReadOnly(ctx)
	if err != nil {
		return err
	}
	defer known.Close()
	if err := known.Check(ctx); err != nil {
		return err
	}
	scope, then, err := d.session.FindScope(ctx, known, d.session.Scope())
	if now, _ := environment.ServiceOf(scope); err == nil && then != "" {
		d.say(apiclient.Fail, "ledger", load.MovedHint,
			"the base url was %s when the environment last ran, and is %s now: a run stops before it sends anything", then, now)
	}
	return err
}

// mapping checks the mapping as check does. answered means that the service can be used.
func (d *diagnosis) mapping(ctx context.Context, answered bool) error {
	if !answered { // the templates may be what failed
		d.list(apiclient.Fail, "mapping", d.session.Wrong)
		return d.verdict()
	}
	before := len(d.session.Warnings)
	service, err := d.session.AskTemplates(ctx)
	if err != nil {
		return err
	}
	if err := d.session.Wrong.Collect(d.session.Bind(service)); err != nil {
		return err
	}
	warnings := slices.Concat(d.session.Mapping.Warnings, d.session.Warnings[before:])
	if d.session.Binding != nil {
		_, untyped := d.session.Binding.CheckCells(mapping.CellNotes{})
		warnings = append(warnings, untyped...)
	}
	d.list(apiclient.Warn, "mapping", warnings)
	d.session.Wrong.Sort()
	if d.list(apiclient.Fail, "mapping", d.session.Wrong); len(d.session.Wrong) > 0 {
		return problem.New("doctor", "%s failed", reports.Count(len(d.session.Wrong), "check"))
	}
	d.say(apiclient.OK, "mapping", "", "%s fits the templates; claimsheet check with a SHEET checks columns too", d.session.Mapping.File)
	return d.verdict()
}

// diagnosis prints findings and counts them.
type diagnosis struct {
	*program
	probes, send, yes bool   // the flags
	client            string // the flag
	failed, warns     int
	found             struct { // the object of claimsheet doctor
		Environment string              `json:"environment"` // the environment's name
		Findings    []apiclient.Finding `json:"findings"`    // one for each line, in their order; at least that of the environment
	}
}

func (d *diagnosis) say(grade, check, hint, format string, args ...any) {
	d.print(apiclient.Finding{Check: check, Grade: grade, Text: fmt.Sprintf(format, args...), Hint: hint})
}

func (d *diagnosis) list(grade, check string, problems problem.List) {
	for _, p := range problems {
		d.say(grade, check, p.Hint, "%s", p.Error())
	}
}

func (d *diagnosis) print(f apiclient.Finding) {
	switch f.Grade {
	case apiclient.Fail:
		d.failed++
	case apiclient.Warn:
		d.warns++
	}
	f.Text, f.Hint = problem.OneLine(f.Text), problem.OneLine(f.Hint)
	d.found.Findings = append(d.found.Findings, f)
	fmt.Fprintf(d.Out, "%-4s  %s: %s\n", f.Grade, f.Check, f.Text)
	if f.Hint != "" {
		fmt.Fprintf(d.Out, "      %s\n", f.Hint)
	}
}

// connect fetches the secrets and reads the TLS files, and reports what else is wrong with the configuration.
func (d *diagnosis) connect(ctx context.Context, version apiclient.Version) error {
	d.list(apiclient.Warn, "secrets", d.session.Warnings)
	err := d.session.Connect(ctx, version, d.asking())
	var found problem.List
	if err != nil && found.Collect(err) != nil {
		return err
	}
	if err := found.Collect(d.session.CheckAgreement()); err != nil {
		return err
	}
	if d.list(apiclient.Fail, "configuration", found); len(found) > 0 {
		return problem.New("doctor", "%s failed; the service was not tried", reports.Count(len(found), "check"))
	}
	text := "none are needed"
	if names := d.session.Env.Secrets(); len(names) > 0 {
		text = "fetched: " + strings.Join(names, ", ")
	}
	d.say(apiclient.OK, "secrets", "", "%s", text)
	return nil
}

// verdict prints the result, or returns it as an error.
func (d *diagnosis) verdict() error {
	switch {
	case d.failed > 0:
		return errors.New(reports.Count(d.failed, "check") + " failed; what depends on it was not tried")
	case d.warns > 0:
		fmt.Fprintln(d.Out, "It can be used as it is; see the warnings.")
	default:
		fmt.Fprintln(d.Out, "All is well.")
	}
	return nil
}

// checkFlags refuses what does not belong together.
func (d *diagnosis) checkFlags() error {
	_, noAddress := mail.ParseAddress(d.client)
	switch {
	case !d.probes && (d.send || d.yes || d.client != ""):
		return problem.New("usage", "--send, --client and --yes are for --probe").Hinted("claimsheet doctor --probe …")
	case d.client != "" && noAddress != nil:
		return problem.New("usage", "--client is not an e-mail address").
			Hinted("the address of a test client, such as intake.test@example.com")
	case d.send && d.client == "":
		return problem.New("usage", "--send needs a test client").
			Hinted("--client E-MAIL: an address that is yours, and that the service does not know")
	case d.send && !d.yes && !console.IsTerminal(d.In):
		return problem.New("usage", "--send asks before it creates anything, and there is no terminal").
			Hinted("read what it creates in docs/environments.md, then add --yes")
	}
	return nil
}

// probe finds out how the service answers. Exit code 1: something is not known.
func (d *diagnosis) probe(ctx context.Context, version apiclient.Version) (err error) {
	if err := d.session.Wrong.Err(); err != nil {
		return err
	}
	d.run = uuid.NewString()
	options := probe.Options{Session: d.session, API: version, Connection: d.connection(d.run), Email: d.client}
	if d.send {
		if options.Scope, options.Journal, err = d.forProbe(ctx); err != nil {
			return err
		}
		options.RunID, options.Connection.Shared = d.run, true
	}
	options.Confirm = func(ctx context.Context, creates string) error {
		if d.yes {
			fmt.Fprintln(d.Err, creates)
		}
		return d.agree(ctx, d.yes, "\n"+creates+"\nContinue?", "nothing was created", "without --send only GETs are sent")
	}
	report, failed := probe.Run(ctx, options)
	d.object = report
	if failed == nil || len(report.Asked) > 0 {
		fmt.Fprint(d.Out, report.Text())
	}
	d.counts.Failed = len(report.Unknown) // exit code 1
	return failed
}

// forProbe opens the ledger, as a run does, and its journal. It returns the ledger's name for the environment too.
func (d *diagnosis) forProbe(ctx context.Context) (scope string, outcomes *journal.File, err error) {
	if err := d.session.Locate(ctx); err != nil {
		return "", nil, err
	}
	if err := d.openSharedAndReplay(); err != nil {
		return "", nil, err
	}
	if scope, err = d.session.ConfirmScope(ctx, false, false, false); err != nil {
		return "", nil, err
	}
	outcomes, err = d.openJournal()
	return scope, outcomes, err
}
