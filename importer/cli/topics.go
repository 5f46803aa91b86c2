package cli

import (
	"strings"

	"claimsheet/importer/cli/manual"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// topic is something that several commands have in common.
type topic struct {
	name, summary string
	sections      func() []manual.Section
}

func topics() []topic {
	return []topic{
		{"environment", "the variables that Claimsheet reads", environmentTopic},
		{"exit-codes", "what the exit codes mean, and what to do", exitTopic},
		{"statuses", "the statuses of rows and the states of steps", statusTopic},
	}
}

func (t topic) page() manual.Page {
	return manual.Page{Name: "claimsheet help " + t.name, Summary: t.summary, Sections: t.sections()}
}

func environmentTopic() []manual.Section {
	return []manual.Section{{
		Title: "Environment variables",
		Text: `Claimsheet reads these variables. Proxy variables are not among them: a proxy is named in the environments file.

A secret in the environments file or a --password is never written there. It is env:NAME (the variable NAME),
file:PATH (what a file holds) or cmd:PROGRAM ARG… (what a program prints).`,
		Items: []manual.Item{
			{Term: "CLAIMSHEET_ENV", Text: "the environment of every command that has no -e"},
			{Term: "TERM", Text: "dumb: no progress bar"},
			{Term: "TMPDIR", Text: "where a run keeps the ids of its last calls when the disks of the ledger and of the workbook are full"},
		},
	}}
}

func exitTopic() []manual.Section {
	s := manual.Section{Title: "Exit codes", Text: "When several apply, the first of these counts: 130 and 143, 2, 5, 3, 4, 1, 0."}
	for _, e := range exitMeanings {
		s.Items = append(s.Items, manual.Item{Term: e.code, Text: e.meaning + ". To do: " + e.do + "."})
	}
	return []manual.Section{s}
}

// statusMeaning explains the status of a row, or the state of a step.
type statusMeaning struct{ name, meaning, do string }

// rowStatuses explains the column Import status, the worst status first.
var rowStatuses = []statusMeaning{
	{string(result.Invalid), "a cell of this row, or of another row of its client, cannot be used; nothing was sent for the client",
		"correct the cell that the column Error names, then run again"},
	{string(result.Uncertain), "a step was sent, and nobody knows whether it was carried out; it is not sent again",
		"claimsheet settle lists what to look for in the service, and records what you found"},
	{string(result.Failed), "a step was certainly not carried out; the column Error says why", "fix the cause, then run again: only what is missing is sent"},
	{string(result.NotStarted), "it waits for another row, for an earlier step, or for the next run", "fix what it waits for, then run again"},
	{string(result.Changed), "it was done before with other data; nothing was sent, because the service has no update",
		"correct the data in the service by hand; the column Error names the cells"},
	{string(result.Done), "everything that the row asks for was done in this run", "nothing"},
	{string(result.Planned), "in a dry run: this would be sent", "run without --dry-run"},
	{string(result.Unchanged), "everything was done before; nothing was sent this time", "nothing"},
	{string(result.Skipped), "left out on purpose, by the mapping, --limit or --only, or because the client was erased", "nothing"},
}

// stepStates explains the column State of the sheet Steps.
var stepStates = []statusMeaning{
	{string(result.Planned), "it was never sent", "nothing; it is sent when what it waits for is done"},
	{string(ledger.Sent), "it is about to be sent, or was sent and is not answered yet", "nothing; after a killed run, the next run makes it uncertain"},
	{string(ledger.Done), "it was carried out, and its id is in the ledger", "nothing"},
	{string(ledger.Refused), "it was certainly not carried out: the service refused it, or it was not sent", "fix the cause, then run again"},
	{string(ledger.Uncertain), "it may have been carried out; it is not sent again, unless it is a client whom look-ups do not find", "claimsheet settle"},
	{string(ledger.Closed), "you closed it with claimsheet settle --give-up; what depends on it is never sent", "nothing"},
	{result.StepSkipped, "an activity on a client who was found and not created, while existing_activities is skip", "nothing"},
}

func statusTopic() []manual.Section {
	return []manual.Section{
		statusSection("Statuses of rows", "The column Import status of the results workbook, the worst first. The status of a row is the worst of its steps.", rowStatuses),
		statusSection("States of steps", "The column State of the sheet Steps.", stepStates),
	}
}

func statusSection(title, text string, all []statusMeaning) manual.Section {
	s := manual.Section{Title: title, Text: text}
	for _, m := range all {
		said := m.meaning
		if m.do != "nothing" {
			said += ". To do: " + strings.TrimSuffix(m.do, ".")
		}
		s.Items = append(s.Items, manual.Item{Term: m.name, Text: said})
	}
	return s
}
