package studio

import (
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// labels are the page's names for keys of the mapping, without the numbers of entries.
var labels = map[string]string{
	"client.key":                   "Identifies the client",
	"client.lookup":                "Finding clients that are known",
	"client.lookup.email":          "E-mail address to look clients up by",
	"client.lookup.phone":          "Phone number to look clients up by",
	"client.lookup.mode":           "When the phone number is asked about",
	"client.existing":              "What to do with known clients",
	"client.existing_activities":   "Activities of known clients",
	"client.known_id":              "Id known from elsewhere",
	"contacts.key":                 "Identifies the contact",
	"contacts.when":                "Only when",
	"contacts.lookup.email":        "E-mail address to look the contact up by",
	"contacts.lookup.phone":        "Phone number to look the contact up by",
	"claims.key":                   "Identifies the claim",
	"claims.name":                  "The claim's name",
	"claims.when":                  "Only when",
	"claims.known_id":              "Id known from elsewhere",
	"activities.status":            "Status",
	"activities.on":                "On the client, a claim or a contact",
	"activities.when":              "Only when",
	"workflow.name":                "Workflow name",
	"workflow.template_identifier": "Workflow template identifier",
	"resume_at":                    "Where clients resume",
	"name":                         "Campaign name",
	"api":                          "Version of the interface",
	"sheet.header_row":             "The row of the headers, in the view The sheet",
	"sheet.when":                   "Row filter",
	"sheet.empty":                  "Texts that count as empty",
	"sheet.fill_down":              "Columns whose empty cells take the one above",
	"sheet.numbers":                "How numbers are written",
	"sheet.timezone":               "Time zone",
	"sheet.encoding":               "Characters of the .csv file",
	"sheet.delimiter":              "Between the fields of the .csv file",
	"status":                       "Status",
	"values":                       "What the texts mean",
	"type":                         "Type",
	"format":                       "Dates look like",
	"years":                        "Years of two digits",
	"percent":                      "Cells are percentages",
}

// editors are what the page edits a rule with, by its key.
var editors = map[string]string{"key": "columns", "known_id": "column", "when": "condition", "empty": "list", "fill_down": "list"}

// choices are what a rule can say if it is one of few: the value, the words for it, and what it does. What is usual is done when nothing is
// chosen.
var choices = map[string][][3]any{
	"existing": {
		{"reuse", "Take the known client",
			"No client is created twice; claims and activities are added to the client that is there. This is usual."},
		{"skip", "Leave them out", "Nothing is sent for a client whom the service knows already."},
		{"fail", "Report them", "Nothing is sent for them, and the run ends with a mistake for each."},
		{"create", "Create them without looking", "The service is not asked; a known client may be there twice afterwards."},
	},
	"mode": {
		{"first", "Only without an e-mail address", "This is usual."},
		{"either", "Also when the e-mail address is not found", ""},
		{"both", "Always", "Where the two disagree, nothing is sent for the client."},
	},
	"existing_activities": {
		{"send", "Send them", "A known client gets the activities that a new client gets. This is usual."},
		{"skip", "Leave them out", "A known client gets no activities of the client; claims, and what belongs to them, are sent."},
	},
	"status": {
		{"Submitted", "Submitted", "Sent as done, with the values of the sheet. This is usual."},
		{"Accepted", "Accepted", "Sent as done and already agreed to."},
		{"Open", "Open", "Sent without values: the client fills it in, and goes on here."},
	},
	"on":        {{"client", "Once for each client", "This is usual."}},
	"resume_at": {{nil, "The first open one", "This is usual."}, {map[string]string{"column": ""}, "As a column says", ""}},
	"encoding": {
		{"utf-8", "Usual (UTF-8)", ""},
		{"windows-1252", "Older Windows programs (windows-1252)", "When letters such as é or £ look wrong."},
	},
	"delimiter": {{",", "A comma", ""}, {";", "A semicolon", ""}, {"tab", "A tab", ""}},
	"api":       {{"v1", "Version 1", "Clients and activities, without claims."}, {"v2", "Version 2", "Clients, claims and activities."}},
	"numbers": {
		{map[string]string{"decimal": ".", "group": ","}, "1,234.56", ""},
		{map[string]string{"decimal": ",", "group": "."}, "1.234,56", ""},
		{map[string]string{"decimal": ",", "group": " "}, "1 234,56", ""},
		{map[string]string{"decimal": ".", "group": "'"}, "1'234.56", ""},
		{map[string]string{"decimal": ".", "group": ""}, "1234.56", ""},
		{map[string]string{"decimal": ",", "group": ""}, "1234,56", ""},
	},
}

// label returns the page's name for the rule at a path; "" for none.
func label(path []string) string {
	return labels[strings.Join(slices.DeleteFunc(slices.Clone(path), func(part string) bool {
		return strings.Trim(part, "0123456789") == "" || strings.HasPrefix(part, byTemplate)
	}), ".")]
}

// yamlKey matches a key in a message: sheet.numbers, sheet: {timezone: Europe/London}, existing: create.
var yamlKey = regexp.MustCompile(`\b(?:(sheet|client|workflow)(?:\.|: \{))?\b(header_row|when|empty|fill_down|numbers|timezone|` +
	`encoding|delimiter|lookup|existing|existing_activities|name|template_identifier|resume_at|` +
	`status|values|type|format|years|percent)\b` +
	`(?:: \{?([^,;{}]+))?\}?`)

// inPageWords returns a message or a hint on one line, with the page's names for keys of the mapping. A plain word is a key only behind its
// section, or before a colon and a value.
func inPageWords(text string) string {
	return yamlKey.ReplaceAllStringFunc(problem.OneLine(text), func(found string) string {
		parts := yamlKey.FindStringSubmatch(found)
		section, key, value := parts[1], parts[2], parts[3]
		if section == "" && (key == "name" || value == "" && !strings.Contains(key, "_")) {
			return found
		}
		for _, path := range []string{section + "." + key, key, "sheet." + key, "client." + key, "workflow." + key} {
			if name := labels[path]; name != "" && value != "" {
				return "“" + name + "”: " + value
			} else if name != "" {
				return "“" + name + "”"
			}
		}
		return found
	})
}
