// Package workbook reads the input of a run: a lead sheet's rows, or a results workbook's run, rows and steps.
package workbook

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// Results is what a results workbook records about its run in its document properties. Anybody can edit it, so it is compared with the
// ledger and never names files to read.
type Results struct {
	Path string // of the workbook

	Run             string
	Environment     string // the ledger's name for it
	EnvironmentName string
	Mapping         string // the mapping's name
	MappingFile     string
	MappingDigest   string
	KeySpace        string
	Sheet           string // name of the sheet that was first imported
	Sheets          int    // how many sheets were imported together; 0 when not recorded
	Input           string
	InputDigest     string
	Ledger          string
	Started         time.Time // of the run, zero when not recorded
	Steps           int       // lines in the sheet Steps, -1 when not recorded
	Contacts        bool      // the sheet Results has the column contacts
	NextRun         string    // the run that began after the workbook was written; "" for none
	NextResults     string    // where the results of NextRun go; "" where that is not known
	Dropped         bool      // it is from the hidden sheet, which does not know NextRun

	kind string // reports.Results or reports.Plan; "" for a workbook that is not ours
}

const (
	nextRunProperty     = "claimsheet.next-run"
	nextResultsProperty = "claimsheet.next-results"
	sheetsProperty      = "claimsheet.sheets"
	startedProperty     = "claimsheet.started" // RFC 3339
	contactsProperty    = "claimsheet.contacts"
)

// texts maps the document properties to the fields that they hold.
func (b *Results) texts() map[string]*string {
	return map[string]*string{
		"claimsheet.run": &b.Run, "claimsheet.environment": &b.Environment, "claimsheet.environment-name": &b.EnvironmentName,
		"claimsheet.mapping": &b.Mapping, "claimsheet.mapping-file": &b.MappingFile, "claimsheet.mapping-digest": &b.MappingDigest,
		"claimsheet.key-space": &b.KeySpace, "claimsheet.sheet": &b.Sheet,
		"claimsheet.input": &b.Input, "claimsheet.input-digest": &b.InputDigest, "claimsheet.ledger": &b.Ledger,
		nextRunProperty: &b.NextRun, nextResultsProperty: &b.NextResults,
	}
}

// Properties returns the binding as the document properties of a new workbook.
func (b Results) Properties() map[string]string {
	properties := map[string]string{sheetsProperty: strconv.Itoa(b.Sheets), startedProperty: b.Started.Format(time.RFC3339Nano)}
	for name, text := range b.texts() {
		if *text != "" {
			properties[name] = *text
		}
	}
	if b.Contacts {
		properties[contactsProperty] = "column"
	}
	return properties
}

// FromProperties is the inverse of Properties for the workbook at path.
func FromProperties(path string, properties map[string]string) *Results {
	b := &Results{Path: path, Steps: -1, kind: properties[reports.KindProperty]}
	for name, text := range b.texts() {
		*text = properties[name]
	}
	b.Sheets, _ = strconv.Atoi(properties[sheetsProperty])
	b.Contacts = properties[contactsProperty] != ""
	b.Dropped = properties[reports.DroppedProperty] != ""
	b.Started, _ = time.Parse(time.RFC3339Nano, properties[startedProperty])
	if n, err := strconv.Atoi(properties[reports.StepsProperty]); err == nil && n >= 0 {
		b.Steps = n
	}
	return b
}

// Find returns the binding of the results workbook at path, nil when something else or nothing is there. It fails for an unreadable file.
func Find(path string) (*Results, error) {
	properties, ours, err := reports.IsOurs(path)
	if b := FromProperties(path, properties); ours && b.kind == reports.Results {
		return b, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, err
}

// Supersede records in the workbook at path that a later run began, and where its results go. replacing gets the new digest before the file
// is replaced; its error keeps the old file.
func Supersede(path, run, results string, replacing func(digest string) error) error {
	return reports.Mark(path, map[string]string{nextRunProperty: run, nextResultsProperty: results}, replacing)
}

// Read reads the binding of a results workbook and refuses any other file.
func Read(path, password string) (*Results, error) {
	properties, ours, err := reports.IsOurs(path)
	stripped := false
	if !ours && err == nil { // it may have been encrypted since
		properties, stripped, err = inspect(path, password)
		ours = properties[reports.KindProperty] != ""
	}
	b := FromProperties(path, properties)
	if p, ok := errors.AsType[problem.Problem](err); ok {
		return nil, p
	}
	switch {
	case err != nil:
		return nil, safefile.Unreadable(path, err)
	case !ours && stripped:
		return nil, lost(path)
	case !ours:
		return nil, problem.At(problem.Where{File: path}, "not-results", "this is not a results workbook that Claimsheet wrote").
			Hinted("to import a sheet: claimsheet run -m mapping.yaml %s", reports.CommandLine([]string{path}))
	case b.kind != reports.Results:
		return nil, b.refusePlan(path, "a results workbook")
	}
	return b, nil
}

// inspect returns the document properties of a file's sheet Results, and whether that has the columns of results; neither without such a
// sheet. An error means that the password is missing or wrong.
func inspect(path, password string) (properties map[string]string, stripped bool, err error) {
	r, err := sheet.Open(path, sheet.Options{Name: reports.ResultsSheet, Password: password})
	if p, ok := errors.AsType[problem.Problem](err); ok && (p.Code == "encrypted-workbook" || p.Code == "wrong-password") {
		return nil, false, p
	} else if err != nil {
		return nil, false, nil
	}
	header := r.Sheet().Header
	stripped = slices.Contains(header, cell.StatusHeader) && slices.Contains(header, cell.FailedStepHeader) &&
		slices.Contains(header, cell.SourceRowHeader)
	return r.Properties, stripped, r.Close()
}

// lost refuses a results workbook that cannot say to which run it belongs, without which done work might be done again.
func lost(path string) error {
	return problem.At(problem.Where{File: path}, "properties-lost", "this is a results workbook that does not say any more to which run it belongs: "+
		"the program that saved it dropped the document properties, and the hidden sheet that repeats them is gone too").
		Hinted("correct the sheet that it was made from and run that: what is done is not sent again; claimsheet report writes the workbook again")
}

// RefuseAsSheet refuses a workbook of Claimsheet's as the sheet of a run. given is the user's path, copied the file to look into.
func RefuseAsSheet(given, copied string) error {
	properties, ours, _ := reports.IsOurs(copied) // the reader of the sheet reports what cannot be read
	if !ours {
		if _, stripped, _ := inspect(copied, ""); stripped {
			return lost(given)
		}
		return nil
	}
	if b := FromProperties(given, properties); b.kind == reports.Plan {
		return b.refusePlan(given, "a lead sheet")
	}
	return problem.At(problem.Where{File: given}, "results-workbook", "this is a workbook that Claimsheet wrote, not a lead sheet").
		Hinted("to do what is missing in it: claimsheet rerun %s", reports.CommandLine([]string{given}))
}

// refusePlan refuses the workbook of a dry run, and leads to what was planned in it.
func (b *Results) refusePlan(path, expected string) error {
	return problem.At(problem.Where{File: path}, "plan-workbook", "this is the plan of a dry run, which sent nothing; %s was expected", expected).
		Hinted("name what it was made from, without --dry-run: %s", cmp.Or(b.Input, "the sheet"))
}

// CheckMapping refuses a mapping of another name: the ledger knows the steps by the name, so done work would be done again.
func (b *Results) CheckMapping(m *mapping.Mapping) error {
	if b.Mapping == m.Name.Text {
		return nil
	}
	return problem.At(problem.Where{File: b.Path}, "other-mapping",
		"the workbook was made by the mapping “%s”, not by “%s”: what is done would be done again",
		b.Mapping, m.Name.Text).
		Hinted("give -m with the mapping “%s”", b.Mapping)
}

// CheckKeySpace refuses a mapping whose client keys are of another key space.
func (b *Results) CheckKeySpace(m *mapping.Mapping, space string) error {
	if b.KeySpace == space {
		return nil
	}
	return problem.At(m.At(m.Client.At), "other-mapping",
		"the client keys of the workbook are of the key space “%s”, those of the mapping now of “%s”: what is done would be done again", b.KeySpace, space).
		Hinted("undo the change of client.key, client.lookup or client.key_space")
}

// CheckEnvironment refuses a workbook of another environment than name, which the ledger knows as scope: its ids mean nothing there.
func (b *Results) CheckEnvironment(name, scope string) error {
	if b.Environment == scope {
		return nil
	}
	hint := "name the environment of the workbook with -e, or run the sheet itself in the other environment"
	if b.EnvironmentName == name {
		hint = "if the service has moved, put the base url back for this command; the next run then takes the new one with --accept same-service"
	}
	return problem.At(problem.Where{File: b.Path}, "other-environment", "the workbook belongs to the environment “%s” (%s), not to “%s” (%s)",
		b.EnvironmentName, b.Environment, name, scope).Hinted("%s", hint)
}

// IsOwnOutput reports whether Claimsheet wrote a file, or a spreadsheet program keeps it for an open workbook; its name is not enough.
func IsOwnOutput(path string) bool {
	stem, name := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Base(path)
	if strings.HasPrefix(name, "~$") || strings.HasPrefix(name, ".") {
		return true
	}
	if !strings.HasSuffix(stem, ".results") && !strings.Contains(name, ".results-") && !strings.HasSuffix(stem, ".plan") {
		return false
	}
	_, ours, err := reports.IsOurs(path)
	return ours || err != nil
}
