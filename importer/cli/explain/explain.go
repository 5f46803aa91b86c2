// Package explain has all problem codes, the words in [brackets] at the end of messages,
// and explanations of those whose message and hint cannot hold cause and cure.
//
// The file codes.txt has a line for each code, below the title of its subject. The file
// entries.txt has the explanations:
//
//	## ledger-locked
//	What the cause is.
//	Fix: How to fix it.
//	Bad:
//	-- mapping.yaml --
//	client:
//	  kye: E-mail
//	$ claimsheet check leads.csv
//	Good:
//	…
//
// An example has lines of files, commands, and sentences. The lines of mapping.yaml,
// environments.yaml and leads.csv replace those of the files in the folder base, unless
// "(whole file)" stands behind the name. Without a command, a dry run is meant. The good
// example goes on in the folder of the bad one.
package explain

import (
	"embed"
	"strings"
	"sync"
)

// Command is the command of an example that names none.
const Command = "claimsheet run --dry-run -m mapping.yaml -e uat leads.csv"

// Code is a problem code.
type Code struct {
	Name    string
	Title   string
	Subject string
	Cause   string // "" if message and hint say everything, as Fix, Bad and Good
	Fix     string
	Bad     string
	Good    string
}

//go:embed codes.txt entries.txt
var files embed.FS

// Codes returns all codes, those of one subject together.
var Codes = sync.OnceValue(func() (codes []Code) {
	subject := ""
	for line := range strings.Lines(mustRead("codes.txt")) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# "); ok {
			subject = title
		} else if name, title, ok := strings.Cut(line, ": "); ok {
			codes = append(codes, Code{Name: name, Title: title, Subject: subject})
		}
	}
	for entry := range strings.SplitSeq(strings.TrimPrefix(mustRead("entries.txt"), "## "), "\n## ") {
		name, text, _ := strings.Cut(entry, "\n")
		cause, text, _ := strings.Cut(text, "\nFix: ")
		fix, text, _ := strings.Cut(text, "\nBad:\n")
		bad, good, ok := strings.Cut(text, "\nGood:\n")
		i := index(codes, name)
		if !ok || i < 0 {
			panic("entries.txt: " + name + " lacks a part or its line in codes.txt") // the files are part of the program
		}
		c := &codes[i]
		c.Cause, c.Fix, c.Bad, c.Good = cause, fix, bad, strings.TrimSpace(good)
	}
	return codes
})

func mustRead(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func index(codes []Code, name string) int {
	for i, c := range codes {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Lookup returns a code by its name.
func Lookup(name string) (Code, bool) {
	if i := index(Codes(), name); i >= 0 {
		return Codes()[i], true
	}
	return Code{}, false
}

// Names returns the names of all codes.
func Names() (names []string) {
	for _, c := range Codes() {
		names = append(names, c.Name)
	}
	return names
}
