package importer

import (
	"cmp"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Administrators are the people of a sheet who administer claims, and those who are
// to be created with administrator: false, each with the first cell that says so. The
// zero value has nobody.
type Administrators map[[16]byte]*administration

type administration struct{ administers, not sheetCell }

// sheetCell is a cell; the zero value is none.
type sheetCell struct {
	row    cell.Row
	column int
}

// add notes what a row says of people.
func (a Administrators) add(row cell.Row, list []mapping.Administration) {
	for _, it := range list {
		who := fingerprint(it.Who)
		known := a[who]
		if known == nil {
			known = &administration{}
			a[who] = known
		}
		at := &known.not
		if it.Administers {
			at = &known.administers
		}
		if at.row == 0 {
			*at = sheetCell{row, it.Column}
		}
	}
}

// mixedAdministrators are the problems of the people of a plan who administer claims in
// one row of the sheet and are to be created with administrator: false by another, as
// long as they are not created: whichever row came first would decide. known is what
// the ledger knows of the plan's client.
func (j *Job) mixedAdministrators(plan mapping.Plan, known map[string]ledger.Step) (found problem.List, err error) {
	if len(j.Administrators) == 0 || len(plan.Problems) > 0 {
		return nil, nil
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		who, role, now := plan.Client, "", known
		switch {
		case step.Contact != nil:
			who, role = step.Contact.Client, step.Contact.Role
		case step.Kind != mapping.ClientStep:
			continue
		}
		mixed := j.Administrators[fingerprint(who)]
		administers := administersClaims(plan, step.Key)
		if mixed == nil || mixed.administers.row == 0 || mixed.not.row == 0 || !administers && !step.NotAdministrator ||
			step.KnownID != "" || j.KnownIDs.ofClient(who) != "" {
			continue
		}
		if step.Contact != nil {
			if now, err = j.readSteps(*step.Contact); err != nil {
				return nil, err
			}
		}
		if mayExist(now[string(mapping.ClientStep)].To) {
			continue
		}
		other := mixed.administers
		if !step.NotAdministrator {
			other = mixed.not
		}
		for _, row := range step.Rows {
			found = append(found, j.Binding.MixedAdministrator(role, row, !step.NotAdministrator, j.Binding.At(other.column, other.row)))
		}
	}
	return found, nil
}

// administersClaims reports whether the person of a step administers a claim that the
// plan creates.
func administersClaims(plan mapping.Plan, key string) bool {
	for i := range plan.Steps {
		if claim := &plan.Steps[i]; claim.Kind == mapping.ClaimStep && claim.KnownID == "" && administratorOf(claim) == key {
			return true
		}
	}
	return false
}

// administratorOf is the key of the step of a claim's administrator; "" for one that
// the environment has.
func administratorOf(claim *mapping.Step) string {
	if claim.AdministratorID != "" {
		return ""
	}
	return cmp.Or(claim.Administrator, string(mapping.ClientStep))
}

// reasonNotAdministrator says that a person's other role decided how they were created.
const reasonNotAdministrator = "it was created with administrator: false, for another role in the mapping, and administers claims here"

// noteAdministrators notes the people who administer claims of the plan and were
// created with administrator: false in another role.
func (r *clientRun) noteAdministrators() {
	for i := range r.decisions {
		d := &r.decisions[i]
		if !d.notAdministrator || (d.action != unchanged && d.action != changed) || strings.HasSuffix(d.why, reasonNotAdministrator) || !administersClaims(r.plan, d.step.Key) {
			continue
		}
		if d.why != "" {
			d.why += "; "
		}
		d.action, d.why = changed, d.why+reasonNotAdministrator
	}
}

// administeredByOther reports whether a claim's administrator was created with
// administrator: false in another role.
func (r *clientRun) administeredByOther(claim *mapping.Step) bool {
	for i := range r.decisions {
		if d := &r.decisions[i]; d.notAdministrator && d.step.Key == administratorOf(claim) {
			return true
		}
	}
	return false
}
