package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Workflow is the order in which a workflow places activities. The document says only
// that the one that follows a completed activity becomes the next step.
type Workflow struct {
	// Identifier is the workflowTemplateIdentifier of its activities; "" for those of
	// version 1, which have none.
	Identifier string
	// Templates are the names of activity templates in their order.
	Templates []string
}

// ParseWorkflow reads a workflow such as "WF-1 = Your details > Sign your claim". The
// order of version 1 has no identifier and no equals sign.
func ParseWorkflow(text string) (Workflow, error) {
	identifier, order, isNamed := strings.Cut(text, "=")
	if !isNamed {
		identifier, order = "", text
	}
	w := Workflow{Identifier: strings.TrimSpace(identifier)}
	if isNamed && w.Identifier == "" {
		return w, fmt.Errorf("%q has no identifier before the equals sign", text)
	}
	for name := range strings.SplitSeq(order, ">") {
		w.Templates = append(w.Templates, strings.TrimSpace(name))
	}
	if slices.Contains(w.Templates, "") {
		return w, fmt.Errorf("%q is not a workflow: expected the names of templates, such as WF-1 = Your details > Sign your claim", text)
	}
	return w, nil
}

// newWorkflows finds the templates of workflows in the reference data. It returns their ids, by the identifier of the workflow.
func newWorkflows(list []Workflow, templates []activityTemplate) (map[string][]string, error) {
	all := map[string][]string{}
	for _, w := range list {
		for _, name := range w.Templates {
			named := slices.DeleteFunc(slices.Clone(templates), func(t activityTemplate) bool { return t.Name != name })
			if len(named) != 1 {
				return nil, fmt.Errorf("a workflow has %q, which is the name of %d activity templates: expected one", name, len(named))
			}
			all[w.Identifier] = append(all[w.Identifier], named[0].ID)
		}
	}
	return all, nil
}

// checkWorkflow refuses the identifier of an unknown workflow (v2). Without workflows of
// version 2, the sandbox takes any.
func (ref *reference) checkWorkflow(identifier string) *refusal {
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(ref.workflows)), func(one string) bool { return one == "" })
	if len(known) == 0 || slices.Contains(known, identifier) {
		return nil
	}
	return bad("unknown-workflow", "workflowTemplateIdentifier", "there is no such workflow: expected %s", strings.Join(known, " or "))
}

// next returns the template of the activity that follows a completed one of a client or
// claim; "" when the workflow places none: the order is at its end or has no such template,
// or the next step is there already.
func (ref *reference) next(c *client, after *activity) (templateID string) {
	beside := c.Activities
	if after.Claim != nil {
		beside = after.Claim.Activities
	}
	order := ref.workflows[after.WorkflowTemplateIdentifier]
	at := slices.Index(order, after.TemplateID)
	if at < 0 {
		return ""
	}
	for _, id := range order[at+1:] {
		there := slices.DeleteFunc(slices.Clone(beside), func(a *activity) bool {
			return a.TemplateID != id || a.WorkflowTemplateIdentifier != after.WorkflowTemplateIdentifier
		})
		switch {
		case len(there) == 0:
			return id
		case slices.ContainsFunc(there, (*activity).IsOpen):
			return ""
		}
	}
	return ""
}
