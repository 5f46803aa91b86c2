package cli

import "fmt"

// command is the command of the run, without --dry-run.
func (o runOptions) command() []string {
	verb := "run"
	if o.origins != nil {
		verb = "rerun"
	}
	words := o.words(verb)
	if o.templates != "" {
		words = append(words, "--templates", o.templates)
	}
	if o.password.reference != "" {
		words = append(words, "--password", o.password.reference)
	}
	if o.only != "" {
		words = append(words, "--only", o.only)
	}
	if o.limit > 0 {
		words = append(words, "--limit", fmt.Sprint(o.limit))
	}
	if o.out != "" && !o.dryRun {
		words = append(words, "-o", o.out)
	} else if o.format == formatCSV {
		words = append(words, "--format", formatCSV)
	}
	words = append(words, o.guards.words()...)
	return append(words, o.sheets...)
}

// words are a command with the flags that say where things are. The rerun after
// a run has mapping and environment from the ledger, where it finds that one
// without them.
func (o runOptions) words(verb string) []string {
	words := []string{"claimsheet", verb}
	flags := []struct{ name, value string }{
		{"-m", o.mapping}, {"-e", o.env}, {"--environments", o.environments}, {"--state", o.state},
	}
	if verb == "rerun" && o.origins == nil && o.recordsIn() == (place{environments: o.environments, state: o.state}).recordsIn() {
		flags = flags[2:]
	}
	for _, f := range flags {
		if f.value != "" {
			words = append(words, f.name, f.value)
		}
	}
	return words
}
