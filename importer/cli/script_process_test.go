package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

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

// serveCommands carries out commands until its input ends.
func serveCommands() {
	cli.SetUpProcess(os.Getenv)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var command asked
		if in.Decode(&command) != nil {
			return
		}
		answer, err := carryOut(command)
		if err == nil {
			err = out.Encode(answer)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// carryOut carries out a command with files as stdout and stderr.
func carryOut(command asked) (answer answered, err error) {
	var files [3]*os.File
	for i := range files {
		if files[i], err = os.CreateTemp("", "claimsheet-commands-*"); err != nil {
			return answer, err
		}
		defer files[i].Close()
		if err := os.Remove(files[i].Name()); err != nil {
			return answer, err
		}
	}
	for name, value := range command.Env {
		if err := os.Setenv(name, value); err != nil {
			return answer, err
		}
	}
	if err := os.Chdir(command.Dir); err != nil {
		return answer, err
	}
	answer.Code = cli.MainAt(context.Background(), command.Args, cli.IO{In: files[0], Out: files[1], Err: files[2], Env: os.Getenv}, cli.QuickPace())
	var said [3]string
	for i, f := range files {
		text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
		if err != nil {
			return answer, err
		}
		said[i] = string(text)
	}
	answer.Out, answer.Err = said[1], said[2]
	return answer, nil
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
	for _, name := range variables() {
		command.Env[name] = ts.Getenv(name)
	}
	ts.Check(c.in.Encode(command))
	var a answered
	ts.Check(c.out.Decode(&a))
	return played{code: a.Code, out: a.Out, err: a.Err}
}

// variables are the environment variables that scripts set.
var variables = sync.OnceValue(func() (names []string) {
	scripts, _ := filepath.Glob(filepath.Join("testdata", "script", "*"))
	for _, script := range scripts {
		text, _ := os.ReadFile(script)
		for _, found := range regexp.MustCompile(`(?m)^env (\w+)=`).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
})
