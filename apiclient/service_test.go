package apiclient_test

import (
	"testing"

	"claimsheet/apiclient"
)

func TestService(t *testing.T) {
	for want, spellings := range map[string][]string{
		"https://uat.example.com/api":      {"https://uat.example.com/api", "HTTPS://UAT.Example.COM.:0443/api//", "https://uat.example.com:443/%61p%69/"},
		"https://uat.example.com:8443":     {"https://uat.example.com:8443", "https://uat.example.com:08443/"},
		"https://uat.example.com/a%20b":    {"https://uat.example.com/a%20b", "https://uat.example.com/a b"},
		"https://uat.example.com/%C3%A9~x": {"https://uat.example.com/%c3%a9%7ex", "https://uat.example.com/é~x"},
		"http://127.0.0.1:8080": {"http://localhost:8080", "http://LOCALHOST.:8080", "http://127.0.0.1:08080/", "http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080",
			"http://[::ffff:127.0.0.1]:8080", "http://[::FFFF:7F00:1]:8080"},
		"http://127.0.0.1":            {"http://localhost", "http://localhost:80/", "http://localhost:0080"},
		"http://127.0.0.2:8080":       {"http://127.0.0.2:8080", "http://[::ffff:127.0.0.2]:8080"},
		"https://[2001:db8::1]":       {"https://[2001:DB8:0::1]:443/"},
		"https://[2001:db8::1]:444":   {"https://[2001:db8::0:1]:444"},
		"https://uat.example.com/API": {"https://uat.example.com/API"},
		"sandbox":                     {"sandbox"},
	} {
		for _, spelt := range spellings {
			if got := apiclient.ServiceKey(spelt); got != want {
				t.Errorf("%s: %s, want %s", spelt, got, want)
			}
			if got := apiclient.ServiceKey(want); got != want {
				t.Errorf("%s is not its own: %s", want, got)
			}
		}
	}
}
