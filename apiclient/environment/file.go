package environment

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// MaxSize is the largest environments file that is read, in bytes.
const MaxSize = 1 << 20

// File is an environments file without problems. A nil File stands for none:
// it knows the sandbox only.
type File struct {
	Path    string // as the user named it
	Default string // "" for none; else the name of an entry, or sandbox

	environments map[string]Environment
}

// Names are the names of the file's entries, sorted; sandbox only if it has
// an entry.
func (f *File) Names() []string {
	if f == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(f.environments))
}

// Load reads an environments file. The error is a problem.List: every problem
// of the file, each with its place (up to 200), or one for a file that cannot
// be read, that other users own or can write to, or that is larger than 1 MiB. No secret is resolved and no other file
// opened.
func Load(path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	r := &reader{file: path}
	f := &File{Path: path, environments: map[string]Environment{}}
	if root := r.document(data); root != nil {
		readObject(r, value{Node: root}, fileFields, f)
		r.checkDefault(root, f)
		for name, e := range f.environments {
			e.dir = filepath.Dir(path)
			f.environments[name] = e
		}
	}
	r.problems.Sort()
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

func read(path string) ([]byte, error) {
	data, err := safefile.Read(path, MaxSize)
	p, refused := errors.AsType[problem.Problem](err)
	switch {
	case refused && p.Code == "no-file":
		p.Message = "there is no such environments file"
		p.Hint = "name one with --environments, or put environments.yaml beside the mapping"
		return nil, problem.List{p}
	case refused:
		return nil, problem.List{p}
	}
	return data, err
}

// checkDefault reports a default that names nothing.
func (r *reader) checkDefault(root *yaml.Node, f *File) {
	if _, ok := f.environments[f.Default]; ok || f.Default == "" || f.Default == Sandbox {
		return
	}
	for key, item := range keysOf(value{Node: root}) {
		if key.Value == "default" {
			r.unknown(item.Node, "unknown-environment",
				"“default” names “"+shorten(f.Default)+"”, which is not an entry of environments",
				append(f.Names(), Sandbox))
			return
		}
	}
}
