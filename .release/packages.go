package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes a .deb and an .rpm for each Linux platform.
func packages(b *built) ([]file, error) {
	folder, err := os.MkdirTemp("", "claimsheet-package-*") // the library packs files, not bytes
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var made []file
	for _, p := range b.programs {
		if p.goos != "linux" {
			continue
		}
		contents, err := installed(b, p, filepath.Join(folder, p.goarch))
		if err != nil {
			return nil, err
		}
		for _, format := range []string{"deb", "rpm"} {
			f, err := packaged(b, p, format, contents)
			if err != nil {
				return nil, err
			}
			made = append(made, f)
		}
	}
	return made, nil
}

// installed writes the files of a package into a folder and returns where they belong.
func installed(b *built, p programOf, folder string) (files.Contents, error) {
	man, err := gzipped(b.man)
	if err != nil {
		return nil, err
	}
	list := []file{
		{"/usr/bin/claimsheet", p.binary, 0o755},
		{"/usr/share/man/man1/claimsheet.1.gz", man, 0o644},
	}
	for shell, path := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/claimsheet",
		"zsh":  "/usr/share/zsh/site-functions/_claimsheet",
		"fish": "/usr/share/fish/vendor_completions.d/claimsheet.fish",
	} {
		list = append(list, file{path, b.shells[shell], 0o644})
	}
	for _, text := range b.texts {
		list = append(list, file{"/usr/share/doc/claimsheet/" + text.name, text.data, 0o644})
	}
	var contents files.Contents
	for _, f := range list {
		path := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return nil, err
		}
		contents = append(contents, &files.Content{Source: path, Destination: f.name,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: os.FileMode(f.mode), MTime: b.time}})
	}
	return contents, nil
}

func packaged(b *built, p programOf, format string, contents files.Contents) (file, error) {
	info := &nfpm.Info{
		Name: "claimsheet", Arch: p.goarch, Platform: "linux", Version: b.version, Release: "1", Section: "utils", Priority: "optional",
		Maintainer: "Claimsheet maintainers", License: "Apache-2.0", MTime: b.time, DisableGlobbing: true,
		Description:  "pushes lead spreadsheets into a claims intake service\nNothing is created twice silently, and no id is lost.",
		Overridables: nfpm.Overridables{Contents: contents, Recommends: []string{"ca-certificates"}, RPM: nfpm.RPM{BuildHost: "localhost"}},
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return file{}, err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return file{}, err
	}
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		return file{}, err
	}
	return file{name: "claimsheet_" + b.version + "_linux_" + p.goarch + "." + format, data: out.Bytes()}, nil
}
