package cli

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// attendFlags are for runs that nobody watches.
func attendFlags() []cli.Flag {
	return append(logFlags(),
		textFlag("metrics", "", "write metrics for Prometheus to `FILE` at the end, a textfile for node_exporter"),
		textFlag("notify", "", "post the summary as JSON to `URL` at the end; env:NAME keeps the url secret"),
		&cli.StringFlag{Name: "notify-on", Usage: "post `WHEN`: always, or problems (an exit code other than 0)", DefaultText: "always"})
}

// attended is what a run has about it that nobody need watch: its log, and what
// is done when it is over. It is made before anything else, so that a run that
// cannot start is told of too.
type attended struct {
	run      string // the run's id
	log      *runLog
	out      *outlet // in place of stderr
	where    place
	started  time.Time
	metrics  string             // a file; "" for none
	notify   environment.Secret // the url; empty for none
	problems bool               // notify only where the exit code is not 0
	archive  string             // a folder; "" for none

	begun       bool   // the run came to its first pass
	environment string // its name, once known
	mapping     string // its name, once known
	inputs      []*input
	retries     map[string]int
	uncertain   *int // steps that wait for an operator; nil when not known
	same        bool // a sheet is that of an earlier run
	warnings    []string
}

// attend takes the flags of attendFlags and --archive. Problems are found
// together, and what can be had is there all the same, to tell of them.
func (p *program) attend(c *cli.Context) error {
	a := &attended{run: uuid.NewString(), where: p.placeOf(c), started: time.Now(), metrics: c.String("metrics")}
	p.attended = a
	var found problem.List
	var err error
	a.log, a.out, err = p.openLog(c, a.run)
	if err := addProblems(&found, err); err != nil {
		return err
	}
	p.Err = a.out
	if err := addProblems(&found, a.takeNotify(c)); err != nil {
		return err
	}
	if err := addProblems(&found, a.takeMetrics(c)); err != nil {
		return err
	}
	if err := addProblems(&found, a.takeArchive(c)); err != nil {
		return err
	}
	return found.Err()
}

func (a *attended) takeNotify(c *cli.Context) error {
	var found problem.List
	url, on := c.String("notify"), c.String("notify-on")
	a.problems = on == "problems"
	if on != "" && on != "always" && on != "problems" {
		found = append(found, problem.New("usage", "--notify-on is always or problems, not “%s”", on).Hinted("leave it out to have always"))
	}
	switch {
	case url != "":
		var err error
		a.notify, err = environment.Webhook(c.Context, url)
		if err := addProblems(&found, err); err != nil {
			return err
		}
	case on != "":
		found = append(found, problem.New("usage", "--notify-on says when to post, and no url is given").Hinted("add --notify env:NAME"))
	}
	return found.Err()
}

func (a *attended) takeMetrics(c *cli.Context) error {
	if a.metrics == "" {
		return nil
	}
	err := checkMetricsFile(a.metrics)
	switch {
	case c.Bool("dry-run"):
		err = problem.New("usage", "--metrics tells of runs, and a dry run is none").Hinted("leave it out")
	case c.String("log-file") != "" && absolute(c.String("log-file")) == absolute(a.metrics):
		err = problem.At(problem.Where{File: a.metrics}, "usage", "--log-file and --metrics name the same file").Hinted("give each a file of its own")
	}
	if err != nil {
		a.metrics = ""
	}
	return err
}

// knows notes what the run is about, for whatever tells of it.
func (a *attended) knows(s *setup) {
	if s.env != nil {
		a.environment = s.env.Name
	}
	if s.mapping != nil {
		a.mapping = s.mapping.Name.Text
	}
}

// guess finds the names of mapping and environment for a run that did not come
// so far: its metrics belong beside those of the nights before.
func (a *attended) guess() {
	if a.mapping == "" && a.where.mapping != "" {
		if data, err := safefile.Read(a.where.mapping, mapping.MaxSize); err == nil {
			m, _ := mapping.Parse(a.where.mapping, data)
			a.mapping = m.Name.Text
		}
	}
	if a.environment != "" {
		return
	}
	a.environment = a.where.env
	if path, ok := environment.Find(a.where.mapping, a.where.environments); ok {
		if file, err := environment.Load(path); err == nil {
			if env, err := file.Choose(a.where.env); err == nil {
				a.environment = env.Name
			}
		}
	}
}

// starts tells the log that a run begins.
func (a *attended) starts(s *setup, o runOptions) {
	a.begun = true
	a.log.Info("run started", "version", Version, "environment", s.env.Name, "mapping", s.mapping.Name.Text, "mappingFile", s.mapping.File,
		"sheets", o.sheets, "dryRun", o.dryRun)
}

// warn says what a person should know although it changes no exit code.
func (a *attended) warn(p problem.Problem) {
	a.warnings = append(a.warnings, p.Error())
	sayProblems(a.out, problem.List{p})
}

// ended is done when the command is over, whatever became of it.
func (p *program) ended(ctx context.Context, code int, err error) {
	a := p.attended
	if a == nil {
		return
	}
	signalled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	a.guess()
	if p.summary != nil && (code == exitDone || code == exitRows || code == exitUncertain) {
		a.putAway()
	}
	p.writeMetrics(code)
	p.post(ctx, code, err, signalled)
	p.logEnd(code, err)
	if err := a.log.close(); err != nil {
		a.log.close = nil
		sayError(a.out.plain, errors.New("the log could not be written to its end"))
	}
}
