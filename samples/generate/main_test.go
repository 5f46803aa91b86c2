package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The program writes exactly the sheets in the repository, on any day and on any
// machine.
func TestSheetsAreTheGeneratedOnes(t *testing.T) {
	root := t.TempDir()
	if err := generate(root); err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		file, _ := s.file()
		made, err := os.ReadFile(filepath.Join(root, s.name, file))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join("..", s.name, file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("%s/%s differs from what the program makes; run go run ./samples/generate", s.name, file)
		}
	}
}
