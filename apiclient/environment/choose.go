package environment

import (
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// Choose is the environment of that name; with "" it is the file's default.
// The sandbox needs neither an entry nor a file, but it must be named: a
// nightly job must not end in it for want of a setting. A name that is not
// known, or none at all, is a problem that lists the choices. The Environment is
// a copy: its plain fields may be changed, its maps and slices are the file's.
func (f *File) Choose(name string) (*Environment, error) {
	if name == "" && f != nil {
		name = f.Default
	}
	choices := f.choices()
	if name == "" {
		found := problem.At(f.whole(), "no-environment", "no environment is named and there is no default")
		if f == nil {
			return nil, found.Hinted("put environments.yaml beside the mapping and name one of its environments with -e, or use -e sandbox")
		}
		return nil, found.Hinted("name one with -e: %s", orList(choices))
	}
	if f != nil {
		if e, ok := f.environments[name]; ok {
			return &e, nil
		}
	}
	if name == Sandbox {
		e := newEnvironment(Sandbox)
		if f != nil {
			e.where.File = f.Path
		}
		return &e, nil
	}
	if f == nil {
		return nil, problem.New("unknown-environment", "there is no environment “%s”, for want of an environments file", shorten(name)).
			Hinted("put environments.yaml beside the mapping, name one with --environments, or use -e sandbox")
	}
	p := problem.At(f.whole(), "unknown-environment", "there is no environment “%s”", shorten(name))
	p.Hint = suggestion(name, choices)
	if strings.HasPrefix(p.Hint, "did you mean") {
		p.Hint += " The choices are " + orList(choices)
	}
	return nil, p
}

// choices are the names that Choose takes, sorted, the sandbox last.
func (f *File) choices() []string {
	names := slices.DeleteFunc(f.Names(), func(name string) bool { return name == Sandbox })
	return append(names, Sandbox)
}

func (f *File) whole() problem.Where {
	if f == nil {
		return problem.Where{}
	}
	return problem.Where{File: f.Path}
}
