package environment

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

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
// be read or is larger than 1 MiB. No secret is resolved and no other file
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
	whole := problem.Where{File: path}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.List{problem.At(whole, "no-file", "there is no such environments file").
			Hinted("name one with --environments, or put environments.yaml beside the mapping")}
	}
	var data []byte
	if err == nil {
		defer file.Close()
		data, err = io.ReadAll(io.LimitReader(file, MaxSize+1))
	}
	if err != nil {
		return nil, problem.List{problem.At(whole, "unreadable", "the environments file cannot be read: %s", reason(err))}
	}
	if len(data) > MaxSize {
		return nil, problem.List{problem.At(whole, "too-large",
			"the file is larger than 1 MiB; environments take a few kilobytes")}
	}
	return data, nil
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
