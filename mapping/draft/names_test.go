package draft

import "testing"

// TestNamesMeanOneThing: whatever the order of its words, a name has one meaning.
func TestNamesMeanOneThing(t *testing.T) {
	t.Parallel()
	of := map[string]string{}
	for meaning, names := range synonyms {
		for _, name := range append(names, meaning) {
			if was, ok := of[inOrder(name)]; ok && was != meaning {
				t.Errorf("%q means both %q and %q", name, was, meaning)
			}
			of[inOrder(name)] = meaning
		}
	}
}
