package mapping

import (
	"maps"
	"slices"

	"claimsheet/mapping/problem"
)

// StrayTemplateIDs warns of entries of the environment's template_ids that do
// nothing: neither the service nor the mapping has a template or an attribute of
// the name.
func StrayTemplateIDs(m *Mapping, service *Service) problem.List {
	var names []string
	for _, t := range service.Templates {
		names = append(names, t.Name)
		for _, a := range t.Attributes {
			names = append(names, t.Name+"/"+a.Name)
		}
	}
	known := slices.Clone(names)
	for _, a := range m.Activities {
		known = append(known, a.Template.Text)
		for _, attr := range a.Attributes {
			known = append(known, a.Template.Text+"/"+attr.Name.Text)
		}
	}
	var list problem.List
	for _, name := range slices.Sorted(maps.Keys(service.TemplateIDs)) {
		if !slices.Contains(known, name) {
			hint := "remove the entry"
			if nearest, ok := problem.Nearest(name, names); ok {
				hint = "did you mean “" + nearest + "”?"
			}
			list = append(list, problem.New("stray-template-id", "template_ids of the environment “%s” has an entry “%s”, and there is no such template or attribute",
				service.Environment, name).Hinted("%s", hint))
		}
	}
	return list
}
