package mapping

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Earlier is what the service had when a mapping last ran. Bind and
// TemplateDrift compare it with what the service has now. The service document
// shows no required attributes, so changes of these are not seen.
type Earlier struct {
	Run       time.Time // when it ran
	Templates []Template
	// Types are the data types that were used for attributes to which the mapping
	// gave none, by “Template/Attribute”.
	Types map[string]convert.Type
}

// run names the run in messages, by the local time.
func (e *Earlier) run() string { return "the run of " + e.Run.Local().Format("2006-01-02 15:04") }

// entry is a template or an attribute.
type entry struct{ id, name string }

func namedTemplates(templates []Template) []entry {
	var list []entry
	for _, t := range templates {
		list = append(list, entry{t.ID, t.Name})
	}
	return list
}

func namedAttributes(attributes []AttributeTemplate) []entry {
	var list []entry
	for _, a := range attributes {
		list = append(list, entry{a.ID, a.Name})
	}
	return list
}

// lone returns the index of the only one with a name; -1 when there is none, or
// several.
func lone(list []entry, name string) int {
	is := func(n entry) bool { return convert.Composed(n.name) == name }
	i := slices.IndexFunc(list, is)
	if i >= 0 && slices.ContainsFunc(list[i+1:], is) {
		return -1
	}
	return i
}

// goneTemplate says what became of a template that the service does not have; ok
// is false when the last run did not see it either.
func (e *Earlier) goneTemplate(name string, now []Template) (what, hint string, ok bool) {
	if e == nil {
		return "", "", false
	}
	return e.gone("the activity template “"+name+"”", name, namedTemplates(e.Templates), namedTemplates(now))
}

// goneAttribute is goneTemplate for an attribute of a template that the service
// has.
func (e *Earlier) goneAttribute(t Template, name string) (what, hint string, ok bool) {
	then := e.attributes(t.Name)
	return e.gone(attributeSubject(t.Name, name), name, namedAttributes(then), namedAttributes(t.Attributes))
}

func attributeSubject(template, attribute string) string {
	return "the attribute “" + attribute + "” of the template “" + template + "”"
}

// attributes returns the attributes that a template had.
func (e *Earlier) attributes(template string) []AttributeTemplate {
	if e == nil {
		return nil
	}
	i := lone(namedTemplates(e.Templates), template)
	if i < 0 {
		return nil
	}
	return e.Templates[i].Attributes
}

// gone says what became of a name: the same id has another name, or it is gone,
// and which of the names that are new since then may be its own.
func (e *Earlier) gone(subject, name string, then, now []entry) (what, hint string, ok bool) {
	old := lone(then, name)
	if old < 0 {
		return "", "", false
	}
	var added []string
	for _, n := range now {
		if strings.EqualFold(n.id, then[old].id) {
			return subject + " is called “" + n.name + "” since " + e.run(), "write “" + n.name + "”", true
		}
		if !slices.ContainsFunc(then, func(t entry) bool { return t.name == n.name }) {
			added = append(added, n.name)
		}
	}
	what = subject + " is gone since " + e.run()
	if nearest, ok := nearestNew(name, added); ok {
		return what + "; the service has “" + nearest + "” now", "if that is its name now, write “" + nearest + "”", true
	}
	if len(added) == 0 {
		return what, "ask the service's operator what has taken its place", true
	}
	return what, "new since then: " + strings.Join(added, ", "), true
}

// nearestNew is the name that a renamed one most likely has: one with few edits,
// or with words before or after.
func nearestNew(name string, added []string) (string, bool) {
	const least = 3 // letters: “no” is in “unknown”
	if nearest, ok := problem.Nearest(problem.Shorten(name), added); ok {
		return nearest, true
	}
	i := slices.IndexFunc(added, func(other string) bool {
		longer, shorter := strings.ToLower(other), strings.ToLower(name)
		return min(len(longer), len(shorter)) >= least && (strings.Contains(longer, shorter) || strings.Contains(shorter, longer))
	})
	if i < 0 {
		return "", false
	}
	return added[i], true
}

// refuseRetyped refuses an attribute without a type in the mapping whose cells
// would be read in another way than in the last run.
func (b *binder) refuseRetyped(template string, now AttributeTemplate, attr *AttributeRule) (refused bool) {
	e := b.service.Earlier
	if e == nil {
		return false
	}
	then, ok := e.Types[template+"/"+attr.Name.Text]
	typ := cmp.Or(now.Type, convert.Text)
	if !ok || readAlike(then, typ) {
		return false
	}
	is := "is a " + string(typ) + " now: its cells would be read in another way"
	if now.Type == "" {
		is = "has no type now: its cells would be sent as Text"
	}
	b.wrongAt(attr.Name.At, "retyped", "%s was a %s in %s and %s", attributeSubject(template, attr.Name.Text), then, e.run(), is).
		Hint = "add type: " + string(typ) + " to “" + attr.Name.Text + "” if that is right; otherwise ask the service's operator"
	return true
}

// readAlike reports whether the cells of two data types are read in the same way.
func readAlike(a, b convert.Type) bool {
	return a == b || a.Field() == b.Field() && a.Field() != cell.DateTimeValue
}

// TemplateDrift warns of templates and attributes that the mapping uses and that
// are not what they were when it last ran: they have another id, another type
// although their cells are read as before, or fewer options. What Bind refuses
// is not repeated.
func TemplateDrift(m *Mapping, service *Service) problem.List {
	e := service.Earlier
	if e == nil {
		return nil
	}
	b := &binder{checker: checker{file: m.File}, service: service}
	then, now := namedTemplates(e.Templates), namedTemplates(service.Templates)
	for _, rule := range m.Activities {
		name := rule.Template
		was, is := lone(then, name.Text), lone(now, name.Text)
		switch _, chosen := service.chosenID(name.Text); {
		case chosen || was < 0 || is < 0:
		case !strings.EqualFold(now[is].id, then[was].id):
			b.warnRenewed(name, "the activity template “"+name.Text+"”")
		default:
			b.attributeDrift(service.Templates[is], e.Templates[was], rule.Attributes)
		}
	}
	b.problems.Sort()
	return slices.Compact(b.problems)
}

func (b *binder) attributeDrift(now, then Template, rules []AttributeRule) {
	for _, attr := range rules {
		was, is := lone(namedAttributes(then.Attributes), attr.Name.Text), lone(namedAttributes(now.Attributes), attr.Name.Text)
		if _, chosen := b.service.chosenID(convert.Composed(now.Name) + "/" + attr.Name.Text); chosen || was < 0 || is < 0 {
			continue
		}
		subject, old, current := attributeSubject(now.Name, attr.Name.Text), then.Attributes[was], now.Attributes[is]
		switch {
		case !strings.EqualFold(current.ID, old.ID):
			b.warnRenewed(attr.Name, subject)
		case current.Type != old.Type && current.Type != "" && old.Type != "" && readAlike(current.Type, old.Type):
			b.wrongAt(attr.Name.At, "retyped", "%s was a %s in %s and is a %s now; its cells are read as before", subject, old.Type, b.service.Earlier.run(), current.Type).
				Hint = "make sure that the service takes what the sheet has"
		}
		if gone := goneOptions(old, current); len(gone) > 0 {
			b.wrongAt(attr.Name.At, "options-gone", "%s does not take these options any more, as it did in %s: %s", subject, b.service.Earlier.run(), strings.Join(gone, ", ")).
				Hint = "it takes " + problem.OrList(current.Options)
		}
	}
}

// goneOptions returns the options that an attribute had and has not any more; none
// where the service does not report its options now.
func goneOptions(then, now AttributeTemplate) []string {
	if len(now.Options) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(then.Options), func(o string) bool { return slices.Contains(now.Options, o) })
}

func (b *binder) warnRenewed(name yamltree.Scalar, subject string) {
	b.wrongAt(name.At, "new-id", "%s has another id than in %s: it was deleted and created again", subject, b.service.Earlier.run()).
		Hint = "what is sent from now on gets the new id; make sure that it means the same"
}
