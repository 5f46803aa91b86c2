// Release makes the files of a release from a commit: archives, packages, container
// images, bills of materials and their checksums. The same commit and the same Go
// version give the same bytes, on any machine and in any folder:
//
//   - what is built is a clone of the commit, so files that were not committed play
//     no part;
//   - paths are trimmed, and every time is that of the commit, or SOURCE_DATE_EPOCH;
//   - entries are in a fixed order and belong to nobody in particular.
//
// It is a module of its own, so that the program does not depend on what packs it:
//
//	cd .release && go run . -o /tmp/release
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// platforms are those that a release is made for.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

func main() {
	repository := flag.String("repository", "..", "the `FOLDER` of the repository whose HEAD is released")
	out := flag.String("o", "", "the `FOLDER` for the files; it must be empty or not exist")
	only := flag.String("platforms", strings.Join(platforms, ","), "the `PLATFORMS` to build for")
	twice := flag.Bool("twice", false, "build everything again with an empty cache, and compare")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := release(ctx, *repository, *out, strings.Split(*only, ","), *twice); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(ctx context.Context, repository, out string, platforms []string, twice bool) error {
	if entries, err := os.ReadDir(out); out == "" || err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.New("-o must name an empty or a new folder")
	}
	if err := makeFiles(ctx, repository, out, platforms, ""); err != nil {
		return err
	}
	if err := list(out); err != nil || !twice {
		return err
	}
	scratch, err := os.MkdirTemp("", "claimsheet-again-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	again := filepath.Join(scratch, "files")
	if err := makeFiles(ctx, repository, again, platforms, filepath.Join(scratch, "cache")); err != nil {
		return err
	}
	if err := compare(out, again); err != nil {
		return err
	}
	fmt.Println("a second build with an empty cache has the same bytes")
	return nil
}

// list prints the files with their sizes.
func list(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, statErr := e.Info(); statErr == nil {
			fmt.Printf("%11d  %s\n", info.Size(), e.Name())
		}
	}
	return err
}

// compare returns an error that names the files of two folders that differ.
func compare(one, other string) error {
	names := map[string]bool{}
	for _, folder := range []string{one, other} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	var differ []string
	for name := range names {
		a, errA := os.ReadFile(filepath.Join(one, name))
		b, errB := os.ReadFile(filepath.Join(other, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("the second build has other bytes: %s", strings.Join(differ, ", "))
	}
	return nil
}
