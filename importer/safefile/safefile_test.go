//go:build unix

package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/importer/testform"
)

var (
	must = testform.NoError
	code = testform.Code
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	file := func(name, text string, mode os.FileMode) string {
		must(t, errors.Join(os.WriteFile(path(name), []byte(text), 0o600), os.Chmod(path(name), mode)))
		return path(name)
	}
	fifo := path("pipe")
	file("target", "text", 0o600)
	must(t, errors.Join(syscall.Mkfifo(fifo, 0o600), os.Symlink(path("target"), path("link"))))
	for _, test := range []struct{ path, code string }{
		{file("private", "text", 0o600), ""},
		{file("readable", "text", 0o644), ""},
		{path("link"), ""},
		{file("full", strings.Repeat("x", 2048), 0o600), ""},
		{file("large", strings.Repeat("x", 2049), 0o600), "too-large"},
		{file("for all", "text", 0o602), "others-can-write"},
		{path("none"), "no-file"},
		{fifo, "not-a-file"}, {dir, "not-a-file"}, {"/dev/zero", "not-a-file"},
	} {
		data, err := safefile.Read(test.path, 2048)
		if got := code(t, err); got != test.code || got == "" && len(data) == 0 {
			t.Errorf("%s: %d bytes, %v; want %q", test.path, len(data), err, test.code)
		}
	}
}

// What other users own or have linked is refused; only root can try it.
func TestReadOfAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	const stranger = 65533
	dir := t.TempDir()
	theirs, link, group := filepath.Join(dir, "theirs"), filepath.Join(dir, "link"), filepath.Join(dir, "group")
	err := errors.Join(os.WriteFile(theirs, []byte("text"), 0o644), os.Chown(theirs, stranger, stranger),
		os.WriteFile(group, []byte("text"), 0o600), os.Chmod(group, 0o660), os.Chown(group, 0, stranger),
		os.Symlink(group, link), os.Lchown(link, stranger, stranger))
	must(t, err)
	for path, want := range map[string]string{theirs: "other-owner", group: "others-can-write", link: "other-owner"} {
		_, err := safefile.Read(path, 100)
		if got := code(t, err); got != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if got := code(t, safefile.CheckPath(path)); got != want {
			t.Errorf("CheckPath(%s) = %q, want %q", path, got, want)
		}
	}
	must(t, os.Chown(group, 0, 0))
	if _, err := safefile.Read(group, 100); err != nil {
		t.Errorf("the user's own group: %v", err)
	}
}

// TestRemoveLeftovers: what a killed process left is removed a day later; files of others, and what may be in use, stay.
func TestRemoveLeftovers(t *testing.T) {
	folder := t.TempDir()
	for name, age := range map[string]time.Duration{".claimsheet-old": 25 * time.Hour, ".claimsheet-new": time.Hour, "claimsheet-notes": 1000 * time.Hour} {
		path, then := filepath.Join(folder, name), time.Now().Add(-age)
		must(t, errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "leads.xlsx"), nil, 0o600), os.Chtimes(path, then, then)))
	}
	safefile.RemoveLeftovers(folder)
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) != 2 || filepath.Base(left[0]) != ".claimsheet-new" {
		t.Errorf("left: %q", left)
	}
}
