package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyed is a mapping of clients and their claims with a client section.
func keyed(name, client string) string {
	return "name: " + name + "\napi: v2\nclient: {" + client + ", fields: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB}, ref: Agreement no}}\n" +
		"claims: [{key: Agreement no, name: \"{Agreement no}\"}]\n"
}

const (
	byEmail    = "key: E-mail, lookup: {email: E-mail}"
	byNumber   = "key: Mobile, lookup: {phone: {column: Mobile, type: Phone, region: GB}}"
	byNational = "key: Mobile, lookup: {phone: {column: Mobile, type: Phone, region: GB, format: national}}"
)

// TestIdentityThatChanges gives the same sheet again when the mapping's client
// section has changed under its name: either it means the same clients, or
// nothing is sent. Forced, it is not refused again.
func TestIdentityThatChanges(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		then, now string
		refused   string // what the message says; "" when the clients are the same
	}{
		"the format of the phone number": {byNumber, byNational, ""},
		"the format taken back":          {byNational, byNumber, ""},
		"the look-up goes": {byEmail, "key: E-mail, existing: create",
			"the mapping “r” has run before with the key space “email” where it is now “r”: what is done would be done again [new-identity]"},
		"the look-up comes": {"key: E-mail, lookup: {phone: {column: Mobile, type: Phone, region: GB}}",
			"key: E-mail, lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB}}",
			"the mapping “r” has run before with the key space “r” where it is now “email”"},
		"a number becomes a text": {byNumber, "key: Mobile, lookup: {phone: Mobile}", "phone numbers compared in another way"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, keyed("r", c.then), leads(1))
			s.mustRun(0)
			s.mapping(keyed("r", c.now))
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				code := 0
				if c.refused != "" {
					code = 2
				}
				p := s.mustRun(code, flags...)
				if len(p.posts()) > 0 || !strings.Contains(p.err, c.refused) {
					t.Errorf("created %v\n%s", p.posts(), p.err)
				}
			}
			if c.refused != "" {
				s.run("--accept", "new-identity")
				if p := s.run(); p.code == 2 {
					t.Errorf("refused again\n%s", p.err)
				}
			}
		})
	}
}

// TestPhoneIsOneClientForAllMappings has two campaigns send the number in
// formats of their own.
func TestPhoneIsOneClientForAllMappings(t *testing.T) {
	t.Parallel()
	s := newScene(t, keyed("r", byNumber), leads(1))
	s.mustRun(0)
	s.mapping(strings.ReplaceAll(keyed("r2", byNational), "key: Agreement no,", "key: Amount,"))
	if diff := cmp.Diff(map[string]int{"claim": 1, "link": 1}, s.mustRun(0, "--only", "+447911123001").posts()); diff != "" {
		t.Errorf("created for the second campaign (-want +got):\n%s", diff)
	}
}

// TestTwoCampaigns lets two mappings make claims of the same keys for one
// client, on purpose: after that each goes on with its own, and is refused only
// for claims that it has not made.
func TestTwoCampaigns(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, keyed("a", byEmail), leads(1))
	s.mustRun(0)
	s.mapping(keyed("b", byEmail))
	s.mustRun(2)
	s.mustRun(0, "--accept", "new-identity")
	for _, name := range []string{"b", "a", "b"} {
		s.mapping(keyed(name, byEmail))
		if p := s.mustRun(0); p.summary.Rows.Unchanged != 1 || len(p.posts()) > 0 {
			t.Errorf("%s: rows %+v, created %v", name, p.summary.Rows, p.posts())
		}
	}
	s.sheet(leads(2))
	s.mustRun(0)
	s.mapping(keyed("a", byEmail))
	if p := s.mustRun(2); !strings.Contains(p.err, "[new-identity]") {
		t.Errorf("the new claim, made by the other mapping, is not refused as such\n%s", p.err)
	}
}
