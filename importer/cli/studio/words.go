package studio

import (
	"regexp"

	"claimsheet/mapping/problem"
)

// pageWords are what messages and hints say to those who edit the file, and what the page
// says in its place: the names of its views and fields.
var pageWords = []struct {
	file *regexp.Regexp
	page string
}{
	// Which row and which sheet.
	{regexp.MustCompile(`let sheet\.header_row be the row that names the columns; when no row does, the export needs one`),
		"choose the row that names the columns in the view “The sheet”; when no row does, the export needs one"},
	{regexp.MustCompile(`sheet\.header_row says which`), "choose it in the view “The sheet”"},
	{regexp.MustCompile(`row (\d+) looks like the row of the headers: write sheet: \{header_row: \d+\} in the mapping`), "row $1 looks like the row of the headers: choose it in the view “The sheet”"},
	{regexp.MustCompile(`write the row of the headers in the mapping: sheet: \{header_row: N\}`), "choose the row of the headers in the view “The sheet”"},
	{regexp.MustCompile(`; where row (\d+) is meant, write sheet: \{header_row: \d+\}`), "; where row $1 is meant, choose it there"},
	{regexp.MustCompile(`write header_row under sheet in the mapping`), "choose it in the view “The sheet”"},
	{regexp.MustCompile(`set header_row in the mapping to the row that holds the column names`), "choose the row that holds the column names in the view “The sheet”"},
	{regexp.MustCompile(`name another sheet in the mapping`), "choose another sheet in the view “The sheet”"},
	{regexp.MustCompile(`name (a sheet|one of its sheets) in the mapping`), "choose $1 in the view “The sheet”"},

	{regexp.MustCompile(`declare that in the mapping: sheet: \{encoding: windows-1252\}`), "choose windows-1252 for “Characters of the .csv file”, below “How the sheet is read”"},
	{regexp.MustCompile(`take sheet\.encoding out of the mapping`), "choose utf-8 for “Characters of the .csv file”, below “How the sheet is read”,"},
	{regexp.MustCompile(`name any of them in the mapping: sheet: \{delimiter: ","\}`), "choose any of them for “Between the fields of the .csv file”, below “How the sheet is read”"},
	{regexp.MustCompile(`name the delimiter in the mapping: sheet: .*`), "choose what stands between the fields: “Between the fields of the .csv file”, below “How the sheet is read”"},

	// How cells are read.
	{regexp.MustCompile(`add sheet: \{timezone: Europe/London\}, or wherever the times were written down`), "say where the times were written down: “Time zone”, below “How the sheet is read”"},
	{regexp.MustCompile(`name the zone it was written in under sheet\.timezone, for example Europe/London`), "say where it was written down, for example Europe/London: “Time zone”, below “How the sheet is read”"},
	{regexp.MustCompile(`or sheet: \{ambiguous_times: earlier\} in the mapping`), "or choose “Times that occur twice”, below “How the sheet is read”"},
	{regexp.MustCompile(`declare how the sheet writes numbers under sheet\.numbers`), "say how the sheet writes numbers: “How numbers are written”"},
	{regexp.MustCompile(`say how the column writes dates, for example format: dd/mm/yyyy`), "say how the column writes dates: “Dates look like”, for example dd/mm/yyyy"},
	{regexp.MustCompile(`write format: serial if it is a spreadsheet's day count`), "write serial in “Dates look like” if it is a spreadsheet's day count"},
	{regexp.MustCompile(`correct the format in the mapping`), "correct “Dates look like”"},
	{regexp.MustCompile(`the format in the mapping`), "“Dates look like”"},
	{regexp.MustCompile(`only one format of the mapping fits, for example with the month's name; or leave one of the formats out of the mapping`),
		"only one way of reading fits, for example with the month's name; or leave one of them out of “Dates look like”"},
	{regexp.MustCompile(`say which century is meant in the mapping: years: past \(dates of birth\) or years: future`),
		"say which century is meant: “Years of two digits”"},
	{regexp.MustCompile(`map the column as Checkbox`), "choose the type “Yes or no”"},
	{regexp.MustCompile(`map it as Date`), "choose the type “Date”"},
	{regexp.MustCompile(`write percent: true in the mapping, which divides them by 100`), "tick “Cells are percentages”, which divides them by 100"},
	{regexp.MustCompile(`leave percent out of the mapping`), "take the tick from “Cells are percentages”"},

	// What texts mean.
	{regexp.MustCompile(`is not listed in values; expected`), "has no meaning yet; expected"},
	{regexp.MustCompile(`let the mapping list this text too \(values, or else\)`), "say what this text means"},
	{regexp.MustCompile(`values is case-sensitive: list the text as the cell writes it`), "capitals count: say what the text means as the cell writes it"},
	{regexp.MustCompile(`list the column's own under checked and unchecked`), "say what the column's own words mean"},
	{regexp.MustCompile(`translate the text in the mapping: values: \{TEXT: (.*)\}`), "say what the text means, such as $1"},
	{regexp.MustCompile(`let the mapping leave it out: sheet: \{when: .*\}`), "leave it out with “Only rows for which”, below “How the sheet is read”"},
	{regexp.MustCompile(`sheet\.empty`), "“Texts that count as empty”"},

	// Questions of a first mapping.
	{regexp.MustCompile(`the questions DECIDE in lines .*`), "questions of the first mapping are not answered"},
	{regexp.MustCompile(`the question DECIDE in line `), "the question in line "},
	{regexp.MustCompile(`answer each, and delete its comment: until then`), "answer each above “What the service gets”: until then"},

	// What is sent.
	{regexp.MustCompile(`say what it is: .*: \{column: .*, type: (\w+)\}`), "choose its type, such as $1"},
	{regexp.MustCompile(`add type: (\w+) to “(.*?)”`), "choose the type $1 for “$2”"},
	{regexp.MustCompile(`leave type out, or write type: (\w+)`), "choose the type “as the service says”, or $1"},
	{regexp.MustCompile(`client\.lookup needs email or phone`), "clients are not looked up: that needs an e-mail address or a phone number"},
	{regexp.MustCompile(`name the column, e\.g\. lookup: \{email: E-mail\}; or write existing: create to create every client without asking`),
		"choose the column below “Finding clients that are known”; or choose create for “What to do with known clients”, to create every client without asking"},
	{regexp.MustCompile(`with existing: (\w+) there are none`), "with “What to do with known clients”: $1 there are none"},
	{regexp.MustCompile(`existing_activities is for clients`), "“Activities of known clients” is for clients"},
	{regexp.MustCompile(`leave it out, or write existing: reuse`), "take it out, or choose reuse for “What to do with known clients”"},
	{regexp.MustCompile(`under client, write existing_activities: skip to leave them out for such clients, or existing_activities: send if they are wanted`),
		"choose skip for “Activities of known clients” to leave them out for such clients, or send if they are wanted"},
	{regexp.MustCompile(`add workflow: \{name: …\} to the mapping`), "fill “Workflow name”"},
	{regexp.MustCompile(`write it as workflow\.template_identifier, or as workflow_template_identifier of the environment`), "write it into “Workflow template identifier”"},
	{regexp.MustCompile(`add attributes, or give it the status Open`), "fill its values, or choose the status Open"},
	{regexp.MustCompile(`no key fills the`), "nothing fills the"},
	{regexp.MustCompile(`add keys for what the sheet knows`), "choose columns for what the sheet knows"},
	{regexp.MustCompile(`, or write resume_at`), ", or fill “Where clients resume”"},
	{regexp.MustCompile(`resume_at`), "“Where clients resume”"},
	{regexp.MustCompile(`give the (contact|activity) a when that leaves it out`), "leave it out with “Only when” of the $1"},
	{regexp.MustCompile(`let the claim's when leave the row out`), "leave the row out with “Only when” of the claim"},
	{regexp.MustCompile(`map what is meant to be sent; the results workbook keeps the rest`), "choose where each goes, or leave it out on purpose; the results workbook keeps the rest"},
}

// inPageWords returns a message or a hint on one line and in the words of the page.
func inPageWords(text string) string {
	text = problem.OneLine(text)
	for _, words := range pageWords {
		text = words.file.ReplaceAllString(text, words.page)
	}
	return text
}
