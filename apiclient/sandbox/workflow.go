package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
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
	var w Workflow
	order := text
	if identifier, rest, ok := strings.Cut(text, "="); ok {
		if w.Identifier, order = strings.TrimSpace(identifier), rest; w.Identifier == "" {
			return w, fmt.Errorf("%q has no identifier before the equals sign", text)
		}
	}
	for name := range strings.SplitSeq(order, ">") {
		if name = strings.TrimSpace(name); name == "" {
			return w, fmt.Errorf("%q is not a workflow: expected the names of templates, such as WF-1 = Your details > Sign your claim", text)
		}
		w.Templates = append(w.Templates, name)
	}
	return w, nil
}

// workflows are the orders of template ids, by the identifier of the workflow.
type workflows map[string][]string

// newWorkflows finds the templates of workflows in the reference data.
func newWorkflows(list []Workflow, ref *reference) (workflows, error) {
	all := workflows{}
	for _, w := range list {
		label := fmt.Sprintf("the workflow %q", w.Identifier)
		if w.Identifier == "" {
			label = "the workflow of version 1"
		}
		if all[w.Identifier] != nil {
			return nil, fmt.Errorf("%s is given twice", label)
		}
		for _, name := range w.Templates {
			ids := ref.named(name)
			switch {
			case len(ids) != 1:
				return nil, fmt.Errorf("%s has %q, which is the name of %d activity templates: expected one", label, name, len(ids))
			case slices.Contains(all[w.Identifier], ids[0]):
				return nil, fmt.Errorf("%s has %q twice", label, name)
			}
			all[w.Identifier] = append(all[w.Identifier], ids[0])
		}
	}
	return all, nil
}

// named returns the ids of the templates with a name.
func (ref *reference) named(name string) (ids []string) {
	for id, t := range ref.byID {
		if t.Name == name {
			ids = append(ids, id)
		}
	}
	return ids
}

// check refuses the identifier of an unknown workflow (v2). Without workflows of
// version 2, the sandbox takes any.
func (all workflows) check(identifier string) error {
	var known []string
	for one := range all {
		if one != "" {
			known = append(known, one)
		}
	}
	if len(known) == 0 || slices.Contains(known, identifier) {
		return nil
	}
	slices.Sort(known)
	return refuse(http.StatusBadRequest, "unknown-workflow", "workflowTemplateIdentifier", "there is no such workflow: expected %s", strings.Join(known, " or "))
}

// next returns the activity that follows a completed one of a client or claim, which has
// these activities; nil when the workflow places none: the order is at its end or has no
// such template, or the next step is there already.
func (ref *reference) next(after *activity, list []*activity, now time.Time) *activityRecord {
	order := ref.workflows[after.WorkflowTemplateIdentifier]
	at := slices.Index(order, after.TemplateID)
	if at < 0 {
		return nil
	}
	for _, id := range order[at+1:] {
		isThere := false
		for _, a := range list {
			if a.TemplateID != id || a.WorkflowTemplateIdentifier != after.WorkflowTemplateIdentifier {
				continue
			}
			if a.isOpen() {
				return nil
			}
			isThere = true
		}
		if !isThere {
			return &activityRecord{ID: uuid.NewString(), TemplateID: id, Template: ref.byID[id].Name, Status: "Open",
				WorkflowName: after.WorkflowName, WorkflowTemplateIdentifier: after.WorkflowTemplateIdentifier, Created: now}
		}
	}
	return nil
}
