// Package explain has an entry for every problem code, the word in [brackets] behind a
// message: what it means, how to mend it, and a bad and a good example. The entries are the
// text files in the folder entries, one for each subject, which are part of the program.
//
// A file begins with the subject, and how its problems are found:
//
//	# The mapping file
//	About the subject.
//	Found by: claimsheet check -m mapping.yaml leads.csv
//
// An entry has its code and title, its meaning, and then parts that begin with a word:
//
//	## unknown-key: A key that does not exist
//	What it means and what its cause is.
//	Mend: How to mend it.
//	Bad:
//	-- mapping.yaml --
//	client:
//	  kye: E-mail
//	$ claimsheet check leads.csv
//	Good:
//	…
//
// An example has lines of files, commands, and words for people. The lines of mapping.yaml,
// environments.yaml and leads.csv replace those of the files in the folder base, unless
// "(whole file)" stands behind the name. Without a command, the one that finds the subject's problems is meant.
// With "Then:" in place of "Good:" the good example goes on where the bad one ended.
//
// Three more parts are for the test that plays the examples and are not shown: "Scene:"
// names what it prepares first, "Test:" the test that plays the entry in its place, and
// "Also:" the codes that the bad example shows as well.
package explain

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

// Entry explains a code.
type Entry struct {
	Code    string
	Title   string
	Subject string // the title of its subject
	Meaning string // what it means and its cause, one paragraph
	Mend    string // how to mend it, one paragraph
	Bad     Example
	Good    Example
	Then    bool     // Good goes on in the folder in which Bad was played
	Command string   // what finds it when an example names no command
	Scene   string   // what the test prepares; "" for nothing
	Test    string   // the test that plays it elsewhere; "" for that of all entries
	Also    []string // codes that Bad shows as well
}

// Example is an example in its order.
type Example []Part

// Part is a part of an example: lines of a file, or a line of words or of a command.
type Part struct {
	File  string // "" for a line
	Whole bool   // Text is all that the file holds
	Text  string // without a line feed at the end; a command begins with "$ "
}

// Subject is a group of entries.
type Subject struct {
	Title   string
	About   string
	Command string // what finds its problems; may be empty
	Entries []Entry
}

//go:embed entries/*.txt
var files embed.FS

//go:embed base
var base embed.FS

// Base returns a file that the examples change: mapping.yaml, environments.yaml or leads.csv.
func Base(name string) (text string, ok bool) {
	data, err := base.ReadFile("base/" + name)
	return string(data), err == nil
}

// Subjects returns all entries by their subject. The caller must not change them.
func Subjects() []Subject { return subjects() }

var subjects = sync.OnceValue(func() []Subject {
	names, err := files.ReadDir("entries")
	var list []Subject
	for _, name := range names {
		var data []byte
		if data, err = files.ReadFile("entries/" + name.Name()); err != nil {
			break
		}
		var s Subject
		if s, err = parse(string(data)); err != nil {
			err = fmt.Errorf("%s: %w", name.Name(), err)
			break
		}
		list = append(list, s)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return list
})

// Lookup returns the entry of a code.
func Lookup(code string) (Entry, bool) {
	for _, s := range Subjects() {
		for _, e := range s.Entries {
			if e.Code == code {
				return e, true
			}
		}
	}
	return Entry{}, false
}

// Codes returns all codes.
func Codes() []string {
	var codes []string
	for _, s := range Subjects() {
		for _, e := range s.Entries {
			codes = append(codes, e.Code)
		}
	}
	return codes
}

// parse reads a file of entries.
func parse(text string) (s Subject, err error) {
	chunks := strings.Split("\n"+strings.TrimSpace(text), "\n## ")
	heading, about, _ := strings.Cut(strings.TrimSpace(chunks[0]), "\n")
	title, ok := strings.CutPrefix(heading, "# ")
	if !ok {
		return s, fmt.Errorf("the first line is no title: %q", heading)
	}
	about, command, _ := strings.Cut(about, "Found by: ")
	s = Subject{Title: title, About: paragraph(about), Command: strings.TrimSpace(command)}
	for _, chunk := range chunks[1:] {
		e, err := parseEntry(chunk)
		if err != nil {
			return s, err
		}
		e.Subject, e.Command = s.Title, s.Command
		s.Entries = append(s.Entries, e)
	}
	return s, nil
}

// parseEntry reads an entry without its "## ".
func parseEntry(text string) (e Entry, err error) {
	heading, text, _ := strings.Cut(text, "\n")
	code, title, ok := strings.Cut(heading, ": ")
	if !ok {
		return e, fmt.Errorf("no title: %q", heading)
	}
	e.Code, e.Title = code, title
	part, words := "", map[string][]string{}
	for _, line := range strings.Split(text, "\n") {
		for _, name := range []string{"Mend", "Scene", "Test", "Also", "Bad", "Good", "Then"} {
			if rest, begins := strings.CutPrefix(line, name+":"); begins {
				part, line = name, strings.TrimSpace(rest)
			}
		}
		words[part] = append(words[part], line)
	}
	whole := func(part string) string { return paragraph(strings.Join(words[part], "\n")) }
	e.Meaning, e.Mend, e.Scene, e.Test, e.Also = whole(""), whole("Mend"), whole("Scene"), whole("Test"), strings.Fields(whole("Also"))
	e.Bad, e.Good = example(words["Bad"]), example(words["Good"])
	if then := example(words["Then"]); then != nil {
		e.Good, e.Then = then, true
	}
	if e.Meaning == "" || e.Mend == "" || e.Bad == nil || e.Good == nil {
		return e, fmt.Errorf("%s lacks its meaning, its mend or an example", code)
	}
	return e, nil
}

func paragraph(text string) string { return strings.Join(strings.Fields(text), " ") }

// example reads the lines of an example.
func example(lines []string) (parts Example) {
	inFile := false
	for _, line := range lines {
		name, isFile := strings.CutPrefix(line, "-- ")
		switch {
		case isFile:
			name, whole := strings.CutSuffix(strings.TrimSuffix(name, " --"), " (whole file)")
			parts, inFile = append(parts, Part{File: name, Whole: whole}), true
		case line == "":
			inFile = false
		case inFile && !strings.HasPrefix(line, "$ "):
			file := &parts[len(parts)-1]
			file.Text = strings.TrimPrefix(file.Text+"\n"+line, "\n")
		default:
			parts, inFile = append(parts, Part{Text: line}), false
		}
	}
	return parts
}
