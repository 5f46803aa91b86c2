package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/serve"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/studio"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const studioHelp = `It serves a page on this computer alone, on which you make and edit the mapping with the sheet in view: what each column holds, what
is sent for it, which cells cannot be used and why, and what would be sent for a client. The file stays as a person wrote it, with its
comments and its order, and changes only when you save. Without a mapping file it begins with what claimsheet init would propose.
Nothing is sent to a real service: the page can start a dry run, or a run into a sandbox of its own.

The link that it prints opens the page once; the page then stays open in that browser. It ends 15 minutes after the last page was
closed, or with Ctrl-C. What was not saved is there the next time.

Examples:

    claimsheet studio leads.xlsx
    claimsheet studio -m mapping.yaml -e uat leads.xlsx`

func (p *program) studioCommand() *cli.Command {
	addr := ""
	return newCommand("studio", "[-m FILE] [-e ENVIRONMENT] [options] SHEET…",
		"make and edit a mapping in the browser, with the sheet in view; its link is the first line on stdout", studioHelp,
		p.placeFlags("the mapping `FILE`, which need not exist yet; default: mapping.yaml in this folder", p.templatesFlag(), p.passwordFlag(),
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:0",
				Usage: "the `ADDRESS` to listen on, of this computer alone; port 0 takes any free one", Destination: &addr}),
		func(c *cli.Context) error { return p.studio(c, addr) })
}

// studioSession is what a session of studio is made from.
type studioSession struct {
	*program
	given   runOptions    // where things are and the sheets alone
	service *load.Session // closed, with the templates of the environment; nil when none was asked
}

func (p *program) studio(c *cli.Context, addr string) error {
	if !c.Args().Present() {
		return problem.New("no-sheet", "no sheet is given").Hinted("claimsheet studio leads.xlsx")
	}
	s := &studioSession{program: p, given: runOptions{where: p.where, repeated: givenFlags(c, "password")}}
	if s.given.where.Mapping == "" {
		s.given.where.Mapping = usualMapping
	}
	var err error
	if s.given.sheets, err = load.Sheets(c.Args().Slice()); err != nil {
		return err
	}
	if err := s.ask(c.Context); err != nil {
		return err
	}
	o, err := s.options()
	if err != nil {
		return err
	}
	server, err := studio.New(c.Context, o)
	if err != nil {
		return withInitHints(err)
	}
	defer server.Close()
	l, err := serve.Loopback("tcp4", addr)
	if err != nil {
		return problem.New("address", "studio cannot listen there: %v", problem.Cause(err)).Hinted("leave --addr out, or choose another port of 127.0.0.1")
	}
	fmt.Fprintln(p.Out, server.Link(l))
	if n := len(s.given.sheets); n > 1 {
		fmt.Fprintf(p.Err, "the page shows %s, the first of %d sheets; its dry run reads all of them\n", problem.OneLine(s.given.sheets[0]), n)
	}
	fmt.Fprintln(p.Err, "open the link in a browser; only this computer can reach it, and it works once. Stop with Ctrl-C")
	return server.Serve(c.Context, l)
}

// exists reports whether there is a mapping file.
func (s *studioSession) exists() bool {
	_, err := os.Lstat(s.given.where.Mapping)
	return !errors.Is(err, fs.ErrNotExist)
}

// ask reads the templates of the environment, although the mapping may be wrong or not there yet. Unless an environment is named, the
// session goes on when it does not answer.
func (s *studioSession) ask(ctx context.Context) error {
	file, found := environment.Find(s.given.where.Mapping, s.given.where.Environments)
	isNamed := s.given.where.Env != "" || s.given.where.Environments != ""
	if !found && !isNamed {
		return nil
	}
	where := s.given.where
	if !s.exists() {
		where.Environments, where.Mapping = file, ""
	}
	session, err := load.OpenConfiguration(where)
	if err == nil {
		err = s.readTemplates(ctx, session, session.Version(""))
	}
	if err == nil {
		s.service = session
	}
	if err == nil || isNamed || ctx.Err() != nil {
		return err
	}
	var list problem.List
	if list.Collect(err) != nil {
		return err
	}
	fmt.Fprintln(s.Err, "studio goes on without the templates of a service:")
	console.PrintWarnings(s.Err, list)
	return nil
}

func (s *studioSession) options() (studio.Options, error) {
	o := studio.Options{
		Mapping: s.given.where.Mapping, Sheets: s.given.sheets, Password: s.password, Suggest: draft.Request{API: "v2"},
		Run: func(ctx context.Context, args []string, out, log io.Writer) int {
			return start(ctx, args, IO{In: strings.NewReader(""), Out: out, Err: log, Env: s.Env}, s.pace)
		},
		Job:     s.job,
		Command: reports.CommandLine(s.given.words()),
	}
	if s.service != nil {
		o.Service, o.Routes, o.LinkBody = s.service.Service, s.service.Client.Routes(), s.service.Client.LinkBody()
		o.Suggest.API, o.Suggest.Service = string(o.Routes.Version), o.Service
	}
	if state := s.given.where.StateDir(false); state != "" {
		if err := load.CheckState(state); err != nil {
			return o, err
		}
		o.Autosave = load.StudioFile(state, s.given.where.Mapping)
	}
	if s.exists() {
		return o, nil
	}
	// A first mapping is proposed from the rows of the sheet. Where they cannot be read the mapping has a name
	// alone: the page shows what is wrong, and lets a person choose the header row.
	fmt.Fprintln(s.Err, "there is no", problem.OneLine(s.given.where.Mapping), "yet: the page proposes one as soon as it has read the sheet")
	f := &sheetFinder{options: sheet.Options{Password: s.password}, request: o.Suggest}
	readers, err := f.open(s.given.sheets[:1])
	for _, r := range readers {
		_ = r.Close()
	}
	if err == nil {
		o.Suggest = f.request
	}
	name := filepath.Base(s.given.sheets[0])
	o.Suggest.Name = strings.TrimSuffix(name, filepath.Ext(name))
	o.Propose, o.Proposed = true, o.Suggest.Beginning()
	return o, nil
}

// job returns the words of a job's command before the sheets. Without an environment a dry run is one of the job's own sandbox.
func (s *studioSession) job(isDryRun bool, mapping, folder string) []string {
	o := s.given
	o.where.Mapping, o.sheets = mapping, nil
	o.where.Environments, _ = environment.Find(s.given.where.Mapping, s.given.where.Environments)
	if isDryRun && s.service != nil {
		o.where.Env, o.where.State = s.service.Env.Name, s.given.where.StateDir(false)
	} else {
		o.where.Env, o.where.State = "sandbox", folder
		if s.given.where.Templates == "" && s.service != nil { // the sandbox of the job has what the environment has
			path := filepath.Join(folder, "templates.json")
			if data, err := json.Marshal(templatesOf(s.service)); err == nil && os.WriteFile(path, data, 0o600) == nil {
				o.where.Templates = path
			}
		}
	}
	words := o.words()[1:]
	if isDryRun {
		words = slices.Insert(words, 1, "--dry-run")
	}
	return words
}
