package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/mapping/problem"
)

// guards are the flags by which an operator sets or lifts what keeps a run
// from doing harm.
type guards struct {
	maxFailures importer.MaxFailures
	newIdentity bool
	newLedger   bool
	sameService bool
	newService  bool
	lostRun     bool
}

func guardFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-failures", DefaultText: "20%",
			Usage: "stop when more than `N` clients, or N% of at least 20, have failed; 100% never stops"},
		switchFlag("new-identity", "the mapping's keys have changed on purpose: make everything anew under them"),
		switchFlag("new-ledger", "the ledger is new on purpose, although the service knows these clients"),
		switchFlag("lost-run", "go on although a later run, and its ledger, are lost"),
		switchFlag("same-service", "the environment's base url has changed, and leads to the same service"),
		switchFlag("new-service", "the environment's base url has changed, and leads to another service"),
	}
}

func guardsOf(c *cli.Context) (guards, error) {
	g := guards{maxFailures: importer.DefaultMaxFailures, newIdentity: c.Bool("new-identity"), newLedger: c.Bool("new-ledger"),
		sameService: c.Bool("same-service"), newService: c.Bool("new-service"), lostRun: c.Bool("lost-run")}
	if g.sameService && g.newService {
		return g, problem.New("usage", "--same-service and --new-service exclude each other")
	}
	if text := c.String("max-failures"); text != "" {
		var ok bool
		if g.maxFailures, ok = parseMaxFailures(text); !ok {
			return g, problem.New("usage", "--max-failures takes a number such as 10 or a share such as 5%%").
				Hinted("leave it out to have 20%%")
		}
	}
	return g, nil
}

func parseMaxFailures(text string) (importer.MaxFailures, bool) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(share, 64)
		return importer.MaxFailures{Percent: percent}, err == nil && percent > 0 && percent <= 100
	}
	count, err := strconv.Atoi(text)
	return importer.MaxFailures{Count: count}, err == nil && count >= 0
}

// vet refuses a run that would make things again under new names, and says what
// is new in its mapping.
func (g guards) vet(ctx context.Context, job *importer.Job, s *setup, survey *importer.Survey) (problem.List, error) {
	if !g.newIdentity {
		if err := job.Vet(ctx, job.Recorded(ctx, survey.Plans(s.binding, s.rows))); err != nil {
			return nil, err
		}
	}
	return job.Growth(ctx, job.Recorded(ctx, survey.Plans(s.binding, s.rows)))
}

// words are the guards that were lifted, as they are given.
func (g guards) words() []string {
	var words []string
	for _, flag := range []struct {
		given bool
		name  string
	}{
		{g.newIdentity, "--new-identity"}, {g.newLedger, "--new-ledger"}, {g.sameService, "--same-service"}, {g.newService, "--new-service"},
		{g.lostRun, "--lost-run"},
	} {
		if flag.given {
			words = append(words, flag.name)
		}
	}
	return words
}
