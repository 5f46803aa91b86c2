package cli_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// byAgreement keys clients by their agreement, so that the cells of e-mail and
// phone may be empty or shared.
func byAgreement(existing, more string) string {
	return fmt.Sprintf(`
name: known
api: v2
client:
  key: Agreement no
  existing: %s
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB, format: e164}%s}
  fields:
    ref: Agreement no
    email: {column: E-mail, type: Email}
    phone: {column: Mobile, type: Phone, region: GB, format: e164}
`, existing, more)
}

// TestPhoneProbe: the number that is looked up to learn what “not found” looks like has
// the mapping's format and region. Where a service refuses it none the less, the message says
// what it was, and not_found in the environment makes it unnecessary.
func TestPhoneProbe(t *testing.T) {
	t.Parallel()
	byPhone := func(t *testing.T, value, accepted string) *scene {
		s := newScene(t, strings.Replace(stepThree, "{email: E-mail}", "{phone: "+value+"}", 1), leads(2))
		s.service.Play(func(c apitest.Call) apitest.Fault {
			number, err := url.PathUnescape(c.Path[strings.LastIndex(c.Path, "/")+1:])
			if c.Kind == "lookup" && (err != nil || !regexp.MustCompile(accepted).MatchString(number)) {
				return apitest.Answer(apitest.JSON(400, `{"message":"not a phone number"}`))
			}
			return apitest.Fault{}
		})
		return s
	}
	for value, accepted := range map[string]string{
		"{column: Mobile, type: Phone, region: GB, format: national}":      `^07\d{3} \d{6}$`,
		"{column: Mobile, type: Phone, region: GB, format: international}": `^\+44 7\d{3} \d{6}$`,
		"{column: Mobile, type: Phone, region: DE}":                        `^\+49\d+$`,
		"{column: Mobile, type: Phone, region: DE, format: national}":      `^0[\d ]+$`,
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			byPhone(t, value, accepted).mustRun(0)
		})
	}
	t.Run("raw", func(t *testing.T) {
		t.Parallel()
		s := byPhone(t, "{column: Mobile, type: Phone, format: raw}", `^07911 123\d{3}$`)
		p := s.mustRun(1)
		for _, want := range []string{"HTTP 400", "+447700900", "invented", "not_found"} {
			if row := s.results()[0]; !strings.Contains(row["Error"]+row["What to do"], want) {
				t.Errorf("the row does not say %q: %s; %s", want, row["Error"], row["What to do"])
			}
		}
		s.environment("not_found: {status: [404]}")
		if p = s.mustRun(0); strings.Contains(transcript(p.calls), "7700900") {
			t.Errorf("an invented number is looked up in spite of not_found:\n%s", transcript(p.calls))
		}
	})
}
