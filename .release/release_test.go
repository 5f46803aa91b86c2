package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestReleaseIsReproducible makes the files of one platform twice, in two folders, the
// second time from an empty cache, and compares every byte. Then it looks at what was
// made.
func TestReleaseIsReproducible(t *testing.T) {
	one, other := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "another folder")
	platforms := []string{"linux/amd64"}
	if err := makeFiles(t.Context(), "..", one, platforms, ""); err != nil {
		t.Fatal(err)
	}
	if err := makeFiles(t.Context(), "..", other, platforms, filepath.Join(t.TempDir(), "cache")); err != nil {
		t.Fatal(err)
	}
	if err := compare(one, other); err != nil {
		t.Error(err)
	}
	checkSums(t, one)
	t.Run("archive", func(t *testing.T) { checkArchive(t, find(t, one, ".tar.gz")) })
	t.Run("image", func(t *testing.T) { checkImage(t, find(t, one, ".oci.tar")) })
	t.Run("bill", func(t *testing.T) { checkBill(t, find(t, one, ".cdx.json")) })
	t.Run("deb", func(t *testing.T) { checkDeb(t, find(t, one, ".deb")) })
	if rpm, err := os.ReadFile(find(t, one, ".rpm")); err != nil || !bytes.HasPrefix(rpm, []byte{0xed, 0xab, 0xee, 0xdb}) {
		t.Errorf("the .rpm is no RPM package (%v)", err)
	}
	if err := os.WriteFile(find(t, other, ".deb"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := compare(one, other); err == nil || !strings.Contains(err.Error(), ".deb") {
		t.Errorf("a file with other bytes is not found: %v", err)
	}
}

// find returns the file of a folder with an extension.
func find(t *testing.T, folder, extension string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+extension))
	if err != nil || len(found) != 1 {
		t.Fatalf("files *%s: %v (%v), expected one", extension, found, err)
	}
	return found[0]
}

// checkSums compares every file with SHA256SUMS.
func checkSums(t *testing.T, folder string) {
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != len(lines)+1 {
		t.Errorf("%d checksums of %d files (%v)", len(lines), len(entries)-1, err)
	}
	for _, line := range lines {
		want, name, _ := strings.Cut(line, "  ")
		data, err := os.ReadFile(filepath.Join(folder, name))
		if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has another checksum (%v)", name, err)
		}
	}
}

// checkArchive unpacks the archive and starts its program, which must name the commit.
func checkArchive(t *testing.T, path string) {
	folder := filepath.Join(unpack(t, path), strings.TrimSuffix(filepath.Base(path), ".tar.gz"))
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md", "man/claimsheet.1",
		"completions/claimsheet.bash", "completions/_claimsheet", "completions/claimsheet.fish", "completions/claimsheet.ps1"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("the archive lacks %s: %v", name, err)
		}
	}
	commit, err := output(t.Context(), "..", "git", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the program is for linux/amd64")
	}
	said, err := output(t.Context(), "", filepath.Join(folder, "claimsheet"), "version", "--json")
	var version struct {
		Version, Revision string
		Modified          bool
	}
	if err := errors.Join(err, json.Unmarshal(said, &version)); err != nil || version.Revision != strings.TrimSpace(string(commit)) || version.Modified {
		t.Errorf("the program says %s (%v), expected commit %s", said, err, commit)
	}
	if !strings.HasPrefix(filepath.Base(path), "claimsheet_"+strings.TrimPrefix(version.Version, "v")+"_") {
		t.Errorf("%s has version %s", filepath.Base(path), version.Version)
	}
}

// unpack writes the regular files and folders of a tar archive to a new folder.
func unpack(t *testing.T, path string) (folder string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var from io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if from, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	folder = t.TempDir()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(folder, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			var data []byte
			data, err = io.ReadAll(r)
			err = errors.Join(err, os.WriteFile(to, data, os.FileMode(h.Mode)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.Copy(io.Discard, from); err != nil { // what comes after the archive's end
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || !strings.HasSuffix(path, ".gz") && info.Size()%512 != 0 {
		t.Errorf("%s does not end at a block (%v)", path, err)
	}
	return folder
}

// checkImage validates the image and its configuration, and starts its program in a
// folder that has nothing but the image's files, as its user: it must know certificates
// and timezones.
func checkImage(t *testing.T, path string) {
	folder, err := layout.FromPath(unpack(t, path))
	if err != nil {
		t.Fatal(err)
	}
	index, err := folder.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("images: %v (%v), expected one", manifest, err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
	config, err := image.ConfigFile()
	if err != nil || config.Config.User != user || config.OS+"/"+config.Architecture != "linux/amd64" || len(config.Config.Entrypoint) != 1 {
		t.Fatalf("the configuration is %+v (%v)", config, err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers: %d (%v), expected one", len(layers), err)
	}
	if os.Geteuid() != 0 || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("only root can start the program in its own root")
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "layer.tar")
	data, err := io.ReadAll(content)
	if err := errors.Join(err, os.WriteFile(packed, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	root := unpack(t, packed)
	if certificates, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil || bytes.Count(certificates, []byte("BEGIN CERTIFICATE")) < 50 {
		t.Errorf("the image has too few certificates (%v)", err)
	}
	mapping := "name: a\napi: v2\nsheet: {timezone: Europe/London}\nclient: {key: No, existing: create, fields: {no: No}}\n"
	if err := os.WriteFile(filepath.Join(root, "work", "mapping.yaml"), []byte(mapping), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), config.Config.Entrypoint[0], "check", "-m", "mapping.yaml")
	cmd.Dir, cmd.Env = "/work", config.Config.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	if err := errors.Join(os.Chown(filepath.Join(root, "work", "mapping.yaml"), 65532, 65532), openFolders(root)); err != nil {
		t.Fatal(err)
	}
	if said, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("no mistake")) {
		t.Errorf("in the image: %v\n%s", err, said)
	}
}

// openFolders lets every user pass through the folders above a test's folder.
func openFolders(folder string) error {
	for ; folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// checkBill looks for the program's modules in the bill.
func checkBill(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	var bill struct {
		Components []struct{ Name, Version, Purl string }
	}
	if err := errors.Join(err, json.Unmarshal(data, &bill)); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, c := range bill.Components {
		names[c.Name] = c.Purl
	}
	for _, name := range []string{"std", "modernc.org/sqlite", "github.com/xuri/excelize/v2", "github.com/urfave/cli/v2"} {
		if !strings.HasPrefix(names[name], "pkg:golang/"+name+"@") {
			t.Errorf("the bill has %q for %s", names[name], name)
		}
	}
}

// checkDeb reads the package with dpkg-deb, where that is installed.
func checkDeb(t *testing.T, path string) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	for want, args := range map[string][]string{
		"Package: claimsheet\n":                                   {"-I", path},
		"./usr/bin/claimsheet\n":                                  {"-c", path},
		"./usr/share/man/man1/claimsheet.1.gz\n":                  {"-c", path},
		"./usr/share/doc/claimsheet/README.md\n":                  {"-c", path},
		"./usr/share/doc/claimsheet/LICENSE\n":                    {"-c", path},
		"./usr/share/doc/claimsheet/CHANGELOG.md\n":               {"-c", path},
		"./usr/share/bash-completion/completions/claimsheet\n":    {"-c", path},
		"./usr/share/zsh/site-functions/_claimsheet\n":            {"-c", path},
		"./usr/share/fish/vendor_completions.d/claimsheet.fish\n": {"-c", path},
	} {
		if said, err := output(t.Context(), "", "dpkg-deb", args...); err != nil || !strings.Contains(string(said), want) {
			t.Errorf("dpkg-deb %s lacks %q (%v):\n%s", args[0], want, err, said)
		}
	}
}

// TestZip: the archive for Windows can be read, and has its files with their times.
func TestZip(t *testing.T) {
	at := time.Date(2026, 11, 22, 18, 7, 24, 0, time.UTC)
	data, err := zipped([]file{{"folder/claimsheet.exe", []byte("program"), 0o755}, {"folder/README.md", []byte("text"), 0o644}}, at)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) != 2 || r.File[0].Name != "folder/claimsheet.exe" || !r.File[1].Modified.Equal(at) {
		t.Fatalf("%v, %v", r, err)
	}
	f, err := r.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); err != nil || string(text) != "program" {
		t.Errorf("%q, %v", text, err)
	}
}
