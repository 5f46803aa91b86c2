package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// sandboxNotice is said wherever a result of the sandbox is shown.
const sandboxNotice = "This is the sandbox: nothing was sent to a real service, and its links lead nowhere."

// startSandbox starts the embedded service for a run, with what it held after
// the last one.
func (s *setup) startSandbox(want settings) (*sandbox.Service, error) {
	templates, err := readTemplatesFile(want.templates)
	if err != nil {
		return nil, err
	}
	dir := s.state
	if _, err := os.Stat(dir); want.readOnly && errors.Is(err, fs.ErrNotExist) {
		dir = "" // nothing was ever made here, and nothing will be
	}
	service, err := sandbox.New(sandbox.Options{Dir: dir, Templates: templates})
	if err != nil {
		return nil, problem.New("sandbox", "the sandbox cannot start: %v", err).
			Hinted("to begin with an empty sandbox, move %s away", s.state)
	}
	s.closers = append(s.closers, func() { _ = service.Close() })
	return service, nil
}

// templatesLimit is the size of the largest file with reference data, in bytes.
const templatesLimit = 64 << 20

func readTemplatesFile(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	return safefile.Read(path, templatesLimit)
}

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name:      "sandbox",
		Usage:     "serve the embedded service, for trying things out; its url is the first line on stdout",
		UsageText: "claimsheet sandbox [options]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8080", Usage: "the loopback `ADDRESS` to listen on; port 0 takes any free one"},
			templatesFlag(),
			textFlag("state", "", "keep what it holds in `FOLDER`/sandbox; default: in memory only"),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return problem.New("usage", "claimsheet sandbox takes no arguments").Hinted("claimsheet sandbox --help lists the flags")
			}
			return p.serve(c)
		},
	}
}

func (p *program) serve(c *cli.Context) error {
	templates, err := readTemplatesFile(c.String("templates"))
	if err != nil {
		return err
	}
	l, err := sandbox.Listen(c.String("addr"))
	if err != nil {
		return problem.New("address", "the sandbox cannot listen there: %v", err)
	}
	url := "http://" + l.Addr().String()
	options := sandbox.Options{Templates: templates, BaseURL: url}
	if state := c.String("state"); state != "" {
		options.Dir = filepath.Join(state, "sandbox")
	}
	service, err := sandbox.New(options)
	if err != nil {
		_ = l.Close()
		return problem.New("sandbox", "the sandbox cannot start: %v", err)
	}
	defer service.Close()
	fmt.Fprintln(p.Out, url)
	fmt.Fprintln(p.Err, "serving the sandbox, case id "+sandbox.CaseID+"; stop it with Ctrl-C")
	return service.Serve(c.Context, l)
}
