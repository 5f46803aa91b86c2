package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the folder of the program's module.
const root = "../../../.."

// build builds the program once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "claimsheet-e2e-*")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "claimsheet")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	return binary, cmd.Run()
})

// place is a folder with a sheet, in which claimsheet is used.
type place struct {
	t      *testing.T
	dir    string
	binary string
}

// newPlace makes a folder with copies of files of the repository.
func newPlace(t *testing.T, files ...string) *place {
	t.Helper()
	binary, err := build()
	must(t, err)
	p := &place{t, t.TempDir(), binary}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(root, name))
		must(t, err)
		p.write(filepath.Base(name), string(data))
	}
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

func (p *place) write(name, text string) {
	p.t.Helper()
	must(p.t, os.WriteFile(p.path(name), []byte(text), 0o600))
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	must(p.t, err)
	return string(data)
}

// golden holds a file to one of testdata, byte for byte. With -update it writes that one,
// where the caller may.
func (p *place) golden(name, want string, mayUpdate bool) {
	p.t.Helper()
	want = filepath.Join("testdata", want)
	if *update && mayUpdate {
		must(p.t, os.WriteFile(want, []byte(p.read(name)), 0o644))
	}
	text, err := os.ReadFile(want)
	must(p.t, err)
	if got := p.read(name); got != string(text) {
		p.t.Errorf("%s is not %s:\n%s", name, want, got)
	}
}

func (p *place) claimsheet(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(p.binary, args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("claimsheet %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// isClean reports what claimsheet check finds in the mapping and the sheet; that templates
// have attributes which the sheet does not fill is no fault.
func (p *place) isClean() {
	p.t.Helper()
	for line := range strings.Lines(p.claimsheet("check", "-e", "sandbox", "leads.xlsx")) {
		if strings.HasPrefix(line, "mapping.yaml:") && !strings.HasSuffix(line, "[unfilled-attributes]\n") || strings.HasPrefix(line, "leads.xlsx") {
			p.t.Errorf("check finds: %s", line)
		}
	}
}

// studio is claimsheet studio as it runs.
type studio struct {
	link string
	cmd  *exec.Cmd
	done chan struct{}
}

// page opens claimsheet studio in a browser of its own.
func (p *place) page(args ...string) hand {
	p.t.Helper()
	h := hand{browser: newBrowser(p.t)}
	h.open(p.studio(args...).link)
	return h
}

// studio starts it with the templates of the sandbox; the test ends it. What it wrote to
// stderr may hold no personal data, and not the token of the link.
func (p *place) studio(args ...string) *studio {
	p.t.Helper()
	s := &studio{cmd: exec.Command(p.binary, append([]string{"studio", "-e", "sandbox"}, args...)...), done: make(chan struct{})}
	s.cmd.Dir = p.dir
	stderr, err := os.CreateTemp(p.dir, "stderr-*")
	must(p.t, err)
	s.cmd.Stderr = stderr
	out, err := s.cmd.StdoutPipe()
	must(p.t, err)
	must(p.t, s.cmd.Start())
	p.t.Cleanup(func() {
		s.stop(os.Interrupt)
		_, token, _ := strings.Cut(s.link, "token=")
		must(p.t, stderr.Close())
		text := p.read(filepath.Base(stderr.Name()))
		for _, secret := range []string{token, "@example", "07700", "Jo<"} {
			if strings.Contains(text, secret) {
				p.t.Errorf("stderr has %q:\n%s", secret, text)
			}
		}
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = s.cmd.Wait()
		close(s.done)
	}()
	if s.link = strings.TrimSpace(line); err != nil || !strings.HasPrefix(s.link, "http://127.0.0.1:") {
		p.t.Fatalf("claimsheet studio %s: %v\n%s%s", strings.Join(args, " "), err, line, p.read(filepath.Base(stderr.Name())))
	}
	return s
}

// stop ends it by a signal, and waits.
func (s *studio) stop(signal os.Signal) {
	_ = s.cmd.Process.Signal(signal)
	<-s.done
}

// origin is the link without its token.
func (s *studio) origin() string {
	origin, _, _ := strings.Cut(s.link, "/?")
	return origin
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replaceOnce replaces a text that must be there.
func replaceOnce(t *testing.T, text, old, replacement string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in:\n%s", old, text)
	}
	return strings.Replace(text, old, replacement, 1)
}
