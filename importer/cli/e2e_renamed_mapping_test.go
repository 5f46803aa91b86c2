package cli_test

import (
	"strings"
	"testing"
)

const (
	byOwnNumber = "\nclient:\n  key: Agreement no\n  existing: create\n  fields: {email: {column: E-mail, type: Email}}\n"
	v1Details   = "\napi: v1\nsheet: {timezone: Europe/London}\n" + clientPart + "activities:" + detailsActivity
	v2Details   = "\napi: v2\n" + clientPart + "workflow: {name: Batch, template_identifier: WF-1}\nactivities:" + detailsActivity
	v2Claims    = "\napi: v2\n" + clientPart + "claims: [{key: Agreement no, name: \"{Agreement no}\"}]\n"
)

// TestAMappingIsRenamed gives a mapping another name between two nights. What
// was done, is uncertain or was given up under the old name would be made again.
func TestAMappingIsRenamed(t *testing.T) {
	onlyLong(t)
	for name, c := range map[string]struct {
		mapping string
		doubt   string // the step that is in doubt after the first night
		giveUp  bool
	}{
		"v1 activities":            {mapping: v1Details},
		"v1 activities, uncertain": {mapping: v1Details, doubt: "activity c1@example.com Your details"},
		"v2 without claims":        {mapping: v2Details},
		"links alone":              {mapping: "\napi: v2\n" + clientPart},
		"a link, uncertain":        {mapping: "\napi: v2\n" + clientPart, doubt: "link c1@example.com"},
		"a claim, done":            {mapping: v2Claims},
		"a claim, uncertain":       {mapping: v2Claims, doubt: "claim c1@example.com/A-1"},
		"a claim, given up":        {mapping: v2Claims, doubt: "claim c1@example.com/A-1", giveUp: true},
		"a key space of its own":   {mapping: "\napi: v2" + byOwnNumber},
		"the same, v1":             {mapping: "\napi: v1" + byOwnNumber},
	} {
		var ways []string
		if c.doubt != "" {
			ways = everyWay
		}
		if c.giveUp {
			ways = ways[:1]
		}
		t.Run(name, func(t *testing.T) {
			inEveryVariant(t, ways, nil, func(t *testing.T, v variant) {
				s := newScene(t, "name: night"+c.mapping, leads(2))
				if c.doubt == "" {
					s.mustRun(0, v.flags()...)
				} else {
					s.sheet(leads(1)) // with what is done, one step is in doubt
					v.doubt(s, c.doubt)
				}
				if c.giveUp {
					s.settle("--give-up", "claim/claim/A-1")
				}
				s.mapping("name: evening" + c.mapping)
				if v.odd {
					s.sheet([][]any{lead(3, "A-3"), lead(2, "A-2"), lead(1, "A-1")})
				}
				for _, flags := range [][]string{{"--dry-run"}, v.flags()} {
					p := s.mustRun(2, flags...)
					if len(p.posts()) > 0 || !strings.Contains(p.err, "“night”") || !strings.Contains(p.err, "--accept new-identity") {
						t.Errorf("created %v\n%s", p.posts(), p.err)
					}
				}
				if p := s.run("--accept", "new-identity"); p.code == 2 {
					t.Errorf("refused in spite of --accept new-identity\n%s", p.err)
				}
				if p := s.run(); p.code == 2 {
					t.Errorf("refused the night after\n%s", p.err)
				}
			})
		})
	}
}

// TestAnotherCampaignIsNoRenaming: campaigns that are defined otherwise, or that
// are for other clients, need no flag.
func TestAnotherCampaignIsNoRenaming(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, "name: night"+v2Details, leads(2))
	s.mustRun(0)
	s.sheet([][]any{lead(8, "A-8")})
	s.mapping("name: others" + v2Details)
	s.mustRun(0)
	s.sheet(leads(2))
	s.mapping("name: more" + strings.Replace(v2Details, "activities:", "activities:\n  - {template: Handler review, assigned: true, status: Open}", 1))
	if p := s.mustRun(0); p.posts()["activity"] != 4 {
		t.Errorf("created %v", p.posts())
	}
	s.mapping("name: night" + v2Details)
	if p := s.mustRun(0); len(p.posts()) > 0 {
		t.Errorf("created %v", p.posts())
	}
}
