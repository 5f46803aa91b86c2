package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"

	"claimsheet/importer/cli"
)

// A process of the program takes longer to begin than most commands of scripts take. So the commands of a script are
// carried out by one process, one after the other, each in the script's folder; with -long, each has its own.

// serverName is the program that carries out the commands of a script.
const serverName = "claimsheet-commands"

// asked is a command, and answered is how it ended.
type (
	asked struct {
		Dir  string
		Env  map[string]string
		Args []string
	}
	answered struct {
		Code     int
		Out, Err string
	}
)

// serveCommands carries out commands until its input ends. Their stdout and stderr are files, as those of a process are.
func serveCommands() {
	cli.SetUpProcess(os.Getenv)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var command asked
		if in.Decode(&command) != nil {
			return
		}
		var files [3]*os.File
		for i := range files {
			f, err := os.CreateTemp("", "claimsheet-commands-*")
			exitWith(err)
			exitWith(os.Remove(f.Name()))
			files[i] = f
		}
		for name, value := range command.Env {
			exitWith(os.Setenv(name, value))
		}
		exitWith(os.Chdir(command.Dir))
		answer := answered{Code: cli.MainAt(context.Background(), command.Args, cli.IO{In: files[0], Out: files[1], Err: files[2], Env: os.Getenv}, cli.QuickPace())}
		for i, said := range []*string{new(string), &answer.Out, &answer.Err} {
			text, err := io.ReadAll(io.NewSectionReader(files[i], 0, 1<<30))
			exitWith(errors.Join(err, files[i].Close()))
			*said = string(text)
		}
		exitWith(out.Encode(answer))
	}
}

// commands is the process of a script.
type commands struct {
	in  *json.Encoder
	out *json.Decoder
}

// startCommands starts the process of a script, which ends with the script.
func startCommands(ts *testscript.TestScript, env []string) *commands {
	cmd := exec.Command(serverName)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &commands{json.NewEncoder(in), json.NewDecoder(out)}
}

// run carries out a command in the script's present folder.
func (c *commands) run(ts *testscript.TestScript, args []string) played {
	command := asked{Dir: ts.MkAbs("."), Env: map[string]string{}, Args: args}
	for _, name := range []string{"CLAIMSHEET_ENV", "GOOD", "BAD"} { // what scripts set
		command.Env[name] = ts.Getenv(name)
	}
	ts.Check(c.in.Encode(command))
	var a answered
	ts.Check(c.out.Decode(&a))
	return played{code: a.Code, out: a.Out, err: a.Err}
}
