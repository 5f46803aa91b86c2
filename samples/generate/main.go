// Command generate writes the lead sheets of the samples: samples/<name>/leads.xlsx,
// or leads.csv.
//
//	go run ./samples/generate
//
// Run it in the repository's top folder. It writes the same bytes every time, so a
// diff of a sheet is an intended change. All people are invented: e-mail addresses
// use the domains reserved for examples, telephone numbers are from the ranges that
// Ofcom reserves for drama, and post codes and number plates contain a letter that
// real ones never do.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func main() {
	if err := generate("samples"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// sample is one sample's sheet.
type sample struct {
	name    string // of its folder
	seed    uint64
	columns []column
	leads   func(*rand.Rand) []lead
}

// file is the name of the sheet's file, and write writes it.
func (s sample) file() (name string, write func(path string, columns []column, leads []lead) error) {
	switch s.name {
	case "guide":
		return "leads.xlsx", writeReport
	case "v2-csv":
		return "leads.csv", writeCSV
	}
	return "leads.xlsx", writeWorkbook
}

// samples are the leads and the columns of each sample, by its folder. Each sample
// has its own seed, so that changing one does not change the others.
var samples = []sample{
	{"first", 20, firstColumns, first},
	{"guide", 31, guideColumns, guide},
	{"v1-step-1", 11, enquiryColumns, enquiries},
	{"v1-resume", 12, vehicleColumns, vehicles},
	{"v2-step-1", 21, campaignColumns, campaign},
	{"v2-step-3", 22, loanColumns, loans},
	{"v2-several-claims", 23, cardColumns, cards},
	{"v2-wide", 24, wideColumns, wide},
	{"v2-resume-by-column", 25, stepColumns, steps},
	{"v2-by-phone", 26, callColumns, calls},
	{"v2-assigned", 27, reviewColumns, reviews},
	{"v2-claim-type", 28, loanColumns, typed},
	{"v2-joint-claimants", 30, jointColumns, joint},
	{"v2-csv", 29, campaignColumns, exported},
}

// generate writes every sample's sheet below the folder root.
func generate(root string) error {
	for _, s := range samples {
		r := rand.New(rand.NewPCG(s.seed, 0))
		folder := filepath.Join(root, s.name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		file, write := s.file()
		if err := write(filepath.Join(folder, file), s.columns, s.leads(r)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
