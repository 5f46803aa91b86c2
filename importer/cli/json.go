package cli

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/urfave/cli/v2"

	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// jsonFlag is the flag of every command that can end with an object on stdout instead of
// text. A command that has it sets program.object; everything else is done here.
func jsonFlag() cli.Flag {
	return switchFlag("json", "end with one JSON object on stdout (docs/json.md)")
}

// asksForJSON reports whether the words of a command have --json. The library reads them
// too late: a mistyped flag must end with an object too.
func asksForJSON(args []string) bool {
	wanted := false
	for _, word := range args {
		switch word {
		case "--json", "-json":
			wanted = true
		case "--help", "-h":
			return false
		}
	}
	return wanted
}

// ending is the end of every object.
type ending struct {
	ExitCode int           `json:"exitCode" doc:"the exit code of the command"`
	Errors   []problemJSON `json:"errors" doc:"what ended the command; empty when nothing did"`
}

// problemJSON is a problem as an object shows it.
type problemJSON struct {
	Code    string `json:"code" doc:"a short word that stays the same between versions; empty for an error of the system"`
	Where   string `json:"where" doc:"file:line:column, or Sheet!C7; empty when it is about the command"`
	Message string `json:"message" doc:"what is wrong, one line"`
	Hint    string `json:"hint" doc:"how to fix it; may be empty"`
}

// printObject ends a command that was asked for JSON.
func (p *program) printObject(code int, err error) error {
	end := ending{ExitCode: code, Errors: []problemJSON{}}
	for _, e := range endProblems(err) {
		end.Errors = append(end.Errors, problemJSON{e.Code, e.Where.String(), problem.OneLine(e.Message), problem.OneLine(e.Hint)})
	}
	whole, err := joinObjects(p.object, end)
	if err != nil {
		return err
	}
	return reports.WriteObject(p.stdout, whole)
}

// joinObjects returns the JSON object with the fields of both; the first may be nil.
func joinObjects(first, second any) (json.RawMessage, error) {
	if first == nil {
		first = struct{}{}
	}
	var parts [][]byte // between the braces
	for _, v := range []any{first, second} {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return nil, err
		}
		object := bytes.TrimSpace(text.Bytes())
		parts = append(parts, object[1:len(object)-1])
	}
	parts = slices.DeleteFunc(parts, func(part []byte) bool { return len(part) == 0 })
	return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}")), nil
}
