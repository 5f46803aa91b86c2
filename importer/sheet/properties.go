package sheet

import "slices"

// severalValues are the kinds of properties that hold elements, and no text.
var severalValues = []string{"vector", "array", "variant"}

// readProperties reads the custom document properties.
func readProperties(a *archive) (map[string]string, error) {
	roots, err := a.relations("")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	i := find(roots, "custom-properties")
	if i < 0 {
		i = find(roots, "customProperties") // its name in strict files
	}
	if i < 0 {
		return all, nil
	}
	name := ""
	err = a.walk(roots[i].target, maxPartBytes, func(s *scanner, path []string) error {
		switch {
		case at(path, "Properties", "property"):
			attrs, err := s.attributes()
			name = attrs["name"]
			return err
		case len(path) == 3 && path[1] == "property" && !slices.Contains(severalValues, path[2]):
			value, err := s.content(nil)
			all[name] = string(decodeEscapes(value, 0))
			return err
		}
		return nil
	})
	return all, err
}
