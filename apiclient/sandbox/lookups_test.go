package sandbox_test

import (
	"net/http"
	"net/url"
	"testing"
)

func TestLookups(t *testing.T) {
	s := open(t, "")
	made := map[string]string{}
	contact := func(name, body string) { made[name] = post(t, s, v2+"/contacts", body)["contactId"] }
	contact("jane", `{"email":"Jane.Doe@Example.com","phone":"+44 (20) 7946-0000"}`)
	contact("twin", `{"email":"jane.doe@example.COM","phone":"+442079460000"}`)
	contact("odd", `{"email":"a/b+c?d#e%41@example.com","phone":"[0] 1"}`)
	contact("nested", `{"contact":{"email":"nested@example.com"}}`)
	contact("no text", `{"email":7,"phone":true}`)
	contact("blank", `{"email":"","phone":" - "}`)
	made["client"] = post(t, s, v1Clients, `{"email":"client@example.com","phone":"0 20"}`)["clientId"]

	for _, c := range []struct{ path, value, field, want string }{
		{v2 + "/contacts/by-email/", "jane.doe@example.com", "contactId", "jane"},
		{v2 + "/contacts/by-email/", "JANE.DOE@EXAMPLE.COM", "contactId", "jane"},
		{v2 + "/contacts/by-email/", "a/b+c?d#e%41@example.com", "contactId", "odd"},
		{v2 + "/contacts/by-phone/", "+442079460000", "contactId", "jane"},
		{v2 + "/contacts/by-phone/", "+44-20 [7946] (0000)", "contactId", "jane"},
		{v2 + "/contacts/by-phone/", "01", "contactId", "odd"},
		{v1Clients + "/by-email/", "CLIENT@example.com", "clientId", "client"},
		{v1Clients + "/by-phone/", "020", "clientId", "client"},
		{v2 + "/contacts/by-email/", "nested@example.com", "", ""},
		{v2 + "/contacts/by-email/", "client@example.com", "", ""},
		{v2 + "/contacts/by-email/", "7", "", ""},
		{v2 + "/contacts/by-email/", "jane.doe", "", ""},
		{v2 + "/contacts/by-email/", "+442079460000", "", ""},
		{v2 + "/contacts/by-phone/", "442079460000", "", ""},
		{v2 + "/contacts/by-phone/", " ", "", ""},
		{v1Clients + "/by-email/", "jane.doe@example.com", "", ""},
		{"/funnel/v1/cases/" + unheardOf + "/clients/by-email/", "client@example.com", "", ""},
	} {
		w := send(s, "GET", c.path+url.PathEscape(c.value), "", "")
		if c.want == "" {
			if w.Code != http.StatusNotFound {
				t.Errorf("%s%s: %d %s, want 404", c.path, c.value, w.Code, w.Body)
			}
			continue
		}
		if got := want(t, w, http.StatusOK); got[c.field] != made[c.want] || len(got) != 1 {
			t.Errorf("%s%s: %v, want the %s of %s and no more", c.path, c.value, got, c.field, c.want)
		}
	}
}

// Upper and lower case do not count in ids, nor in the case id.
func TestIDsInUpperCase(t *testing.T) {
	s := open(t, "")
	const lower, upper = "abcdefab-cdef-4bcd-8fab-cdefabcdefab", "ABCDEFAB-CDEF-4BCD-8FAB-CDEFABCDEFAB"
	post(t, s, "/funnel/v1/cases/"+upper+"/clients", `{"email":"a@example.com"}`)
	get(t, s, "/funnel/v1/cases/"+lower+"/clients/by-email/a@example.com")
}
