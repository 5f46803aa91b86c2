package cli

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// The document properties that bind a workbook to what it was made with.
const (
	runProperty             = "claimsheet.run"
	environmentProperty     = "claimsheet.environment" // the scope
	environmentNameProperty = "claimsheet.environment-name"
	mappingProperty         = "claimsheet.mapping"
	mappingFileProperty     = "claimsheet.mapping-file"
	mappingDigestProperty   = "claimsheet.mapping-digest"
	keySpaceProperty        = "claimsheet.key-space"
	sheetProperty           = "claimsheet.sheet"  // the name of the sheet that was first imported
	sheetsProperty          = "claimsheet.sheets" // how many sheets were run together
	inputProperty           = "claimsheet.input"
	inputDigestProperty     = "claimsheet.input-digest"
	ledgerProperty          = "claimsheet.ledger"
	startedProperty         = "claimsheet.started" // when the run was, RFC 3339, UTC
)

// origin is what a results workbook says of the run that it came from.
type origin struct {
	path     string // of the workbook
	property map[string]string
}

// readOrigins reads the bindings of several.
func readOrigins(paths []string, password string) ([]*origin, error) {
	var origins []*origin
	var found problem.List
	for _, path := range paths {
		o, err := readOrigin(path, password)
		if err := found.Collect(err); err != nil {
			return nil, err
		}
		origins = append(origins, o)
	}
	return origins, found.Err()
}

// together warns that the workbook is one of several that one run wrote, and
// that not all of them are given: what the rows of the others say of a client is
// missing then, and looks changed.
func (o *origin) together(given int) (problem.Problem, bool) {
	n, err := strconv.Atoi(o.property[sheetsProperty])
	if err != nil || n <= given {
		return problem.Problem{}, false
	}
	return problem.At(problem.Where{File: o.path}, "other-workbooks", "the run that wrote it wrote %d workbooks, and %s given: a client with rows in another may look changed", n, isOrAre(given)).
		Hinted("give all of them in one command: claimsheet rerun A.results.xlsx B.results.xlsx"), true
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return strconv.Itoa(n) + " are"
}

// readOrigin reads the binding of a results workbook; a file that is none is
// refused.
func readOrigin(path, password string) (*origin, error) {
	property, ours, err := bindingOf(path, password)
	at := problem.Where{File: path}
	p, isProblem := errors.AsType[problem.Problem](err)
	switch {
	case isProblem:
		return nil, p
	case err != nil:
		return nil, cannotRead(path, err)
	case !ours && strings.EqualFold(filepath.Ext(path), ".csv"):
		return nil, problem.At(at, "csv-results", "a CSV file cannot be run again: types, formats and steps are lost in it").
			Hinted("correct the sheet that was imported and run that again, or have the workbook written: claimsheet report")
	case !ours:
		return nil, problem.At(at, "not-results", "this is not a results workbook that Claimsheet wrote").
			Hinted("to import a sheet: claimsheet run -m mapping.yaml %s", reports.CommandLine([]string{path}))
	case reports.Kind(property[reports.KindProperty]) != reports.Results:
		return nil, planWorkbook(path, property, "a results workbook")
	}
	return &origin{path, property}, nil
}

// bindingOf reads the document properties of a workbook of ours, which may have
// been encrypted since.
func bindingOf(path, password string) (map[string]string, bool, error) {
	property, ours, err := reports.IsOurs(path)
	if ours || err != nil {
		return property, ours, err
	}
	r, err := sheet.Open(path, sheet.Options{Name: reports.ResultsSheet, Password: password})
	if p, ok := errors.AsType[problem.Problem](err); ok && (p.Code == "encrypted-workbook" || p.Code == "wrong-password") {
		return nil, false, p
	} else if err != nil {
		return nil, false, nil
	}
	property = r.Properties()
	return property, property[reports.KindProperty] != "", r.Close()
}

// refuseResults refuses a workbook that Claimsheet wrote as the input of a run:
// its columns would be taken for the source's. given is the path as the user
// named it.
func refuseResults(given, copied string) error {
	property, ours, _ := reports.IsOurs(copied) // what cannot be read is for the reader to say
	switch {
	case !ours:
		return nil
	case reports.Kind(property[reports.KindProperty]) == reports.Plan:
		return planWorkbook(given, property, "a lead sheet")
	}
	return problem.At(problem.Where{File: given}, "results-workbook", "this is a workbook that Claimsheet wrote, not a lead sheet").
		Hinted("to do what is missing in it: claimsheet rerun %s", reports.CommandLine([]string{given}))
}

// planWorkbook refuses the workbook of a dry run, which leads to what was tried
// in it: a sheet, or the results of one.
func planWorkbook(path string, property map[string]string, expected string) error {
	p := problem.At(problem.Where{File: path}, "plan-workbook", "this is the plan of a dry run, which sent nothing; %s was expected", expected)
	input := property[inputProperty]
	line := []string{"claimsheet", "run", "-m", "mapping.yaml"}
	switch {
	case input == "":
		return p.Hinted("run the sheet that it was made from")
	case ourName(input):
		return p.Hinted("to do what is missing in the results that it was made from: %s", reports.CommandLine([]string{"claimsheet", "rerun", input}))
	}
	if env := property[environmentNameProperty]; env != "" {
		line = append(line, "-e", env)
	}
	return p.Hinted("to import the sheet that it was made from: %s", reports.CommandLine(append(line, input)))
}

// refuses finds what must be as it was in the run that wrote the workbook: the
// ledger knows steps by the mapping's name. Whether a base url that has changed
// leads to the same service is asked later, of the ledger.
func (o *origin) refuses(s *setup) error {
	var found problem.List
	if o.property[environmentNameProperty] != s.env.Name {
		if err := found.Collect(o.refusesEnvironment(s)); err != nil {
			return err
		}
	}
	if was := o.property[mappingProperty]; was != s.mapping.Name.Text {
		found = append(found, problem.At(problem.Where{File: o.path}, "other-mapping", "the workbook was made by the mapping “%s”, not by “%s”: what is done would be done again",
			was, s.mapping.Name.Text).
			Hinted("give -m with the mapping “%s”", was))
	}
	return found.Err()
}

// refusesEnvironment refuses a workbook of another environment: its ids mean
// nothing in this one.
func (o *origin) refusesEnvironment(s *setup) error {
	was := o.property[environmentProperty]
	if isSameService(was, s.scope) {
		return nil
	}
	name := o.property[environmentNameProperty]
	hint := "name the environment of the workbook with -e, or run the sheet itself in the other environment"
	if name == s.env.Name {
		hint = "if the service has moved, put the base url back for this command; the next run then takes the new one with --same-service"
	}
	return problem.At(problem.Where{File: o.path}, "other-environment", "the workbook belongs to the environment “%s” (%s), not to “%s” (%s)",
		name, was, s.env.Name, s.scope).Hinted("%s", hint)
}

// refusesKeys is refuses for what is known only of a bound mapping.
func (o *origin) refusesKeys(s *setup) error {
	if was := o.property[keySpaceProperty]; was != s.binding.KeySpace() {
		return problem.At(s.mapping.At(s.mapping.Client.At), "identity-changed",
			"the client keys of the workbook are of the key space “%s”, those of the mapping now of “%s”: what is done would be done again",
			was, s.binding.KeySpace()).
			Hinted("take the change of client.key, client.lookup or client.key_space back")
	}
	return nil
}

// steps is how many lines the workbook's sheet Steps was written with; -1 when
// it does not tell.
func (o *origin) steps() int {
	if n, err := strconv.Atoi(o.property[reports.StepsProperty]); err == nil && n >= 0 {
		return n
	}
	return -1
}

// started is when the run was that wrote the workbook, zero when it does not
// tell.
func (o *origin) started() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, o.property[startedProperty])
	return at
}

// run is the run that wrote the workbook, for a ledger that does not know it.
// Its mapping is the one that is given now: a workbook is not believed what file
// to read the next time.
func (o *origin) run(s *setup) ledger.Run {
	at := o.started()
	if at.IsZero() {
		at = time.Now()
	}
	return ledger.Run{ID: o.property[runProperty], Environment: s.scope, EnvironmentName: s.env.Name,
		Mapping: s.mapping.Name.Text, MappingFile: s.mapping.File, MappingDigest: s.mapping.Digest,
		Input: o.property[inputProperty], InputDigest: o.property[inputDigestProperty], Started: at.UTC(), Finished: at.UTC()}
}
