package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is a file of an archive or a package.
type file struct {
	name string // its path, with slashes
	data []byte
	mode int64
}

// programOf is the program for one platform.
type programOf struct {
	goos, goarch string
	binary       []byte
	info         *buildinfo.BuildInfo
}

// name returns the file name of the program.
func (p programOf) name() string {
	if p.goos == "windows" {
		return "claimsheet.exe"
	}
	return "claimsheet"
}

// built is what a release is packed from.
type built struct {
	version  string    // without the v of the tag
	commit   string    // its full name
	time     time.Time // of the commit
	programs []programOf
	texts    []file // README.md, LICENSE, CHANGELOG.md
	man      []byte
	shells   map[string][]byte // completions by the shell's name
}

// makeFiles builds HEAD of a repository and writes the files of the release. An empty
// cache is the user's own.
func makeFiles(ctx context.Context, repository, out string, platforms []string, cache string) error {
	b, err := build(ctx, repository, platforms, cache)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	files := []file{}
	for _, pack := range []func(*built) ([]file, error){archives, packages, images, bills} {
		made, err := pack(b)
		if err != nil {
			return err
		}
		files = append(files, made...)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var sums strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), f.name)
	}
	for _, f := range append(files, file{name: "SHA256SUMS", data: []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(out, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// build clones the repository, so that the program is that of the commit, and asks the
// program for its man page and completions.
func build(ctx context.Context, repository string, platforms []string, cache string) (*built, error) {
	scratch, err := os.MkdirTemp("", "claimsheet-release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	source := filepath.Join(scratch, "source")
	if _, err := output(ctx, "", "git", "clone", "-q", "--shared", repository, source); err != nil {
		return nil, err
	}
	b := &built{}
	if err := b.ofCommit(ctx, source); err != nil {
		return nil, err
	}
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return nil, err
		}
		b.texts = append(b.texts, file{name, data, 0o644})
	}
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		p, err := compile(ctx, source, filepath.Join(scratch, goos+"-"+goarch), goos, goarch, cache)
		if err != nil {
			return nil, err
		}
		b.programs = append(b.programs, p)
	}
	b.version = strings.TrimPrefix(b.programs[0].info.Main.Version, "v")
	if b.version == "" || b.version == "(devel)" {
		return nil, errors.New("the program does not know its version: git must be installed, and the folder be a repository")
	}
	own := filepath.Join(scratch, "own")
	if _, err := compile(ctx, source, own, runtime.GOOS, runtime.GOARCH, cache); err != nil {
		return nil, err
	}
	return b, b.askProgram(ctx, own)
}

// ofCommit reads the commit's name and time.
func (b *built) ofCommit(ctx context.Context, source string) error {
	said, err := output(ctx, source, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(said)), " ")
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the release is %q, not a number of seconds", seconds)
	}
	b.commit, b.time = commit, time.Unix(unix, 0).UTC()
	return nil
}

// compile builds the program for a platform.
func compile(ctx context.Context, source, to, goos, goarch, cache string) (programOf, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", to, ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	if cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+cache)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return programOf{}, fmt.Errorf("go build for %s/%s: %w\n%s", goos, goarch, err, said)
	}
	binary, err := os.ReadFile(to)
	if err != nil {
		return programOf{}, err
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	return programOf{goos, goarch, binary, info}, err
}

// askProgram asks the program for what it knows of itself.
func (b *built) askProgram(ctx context.Context, program string) (err error) {
	if b.man, err = output(ctx, "", program, "help", "--man"); err != nil {
		return err
	}
	b.shells = map[string][]byte{}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if b.shells[shell], err = output(ctx, "", program, "completion", shell); err != nil {
			return err
		}
	}
	return nil
}

// output runs a command and returns what it prints.
func output(ctx context.Context, folder, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	said, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, failed.Stderr)
	}
	return said, err
}
