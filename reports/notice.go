package reports

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"claimsheet/importer/result"
)

// Notice is posted when a run ends, successful or not: the summary as --json prints it,
// and how the command ended. It holds no personal data and no links.
type Notice struct {
	Run         string `json:"run"`
	Environment string `json:"environment"`
	Mapping     string `json:"mapping"`
	ExitCode    int    `json:"exitCode"`
	// Error is the message when the command could not run or had to stop.
	Error string `json:"error,omitempty"`
	// Warnings need attention but do not change the exit code.
	Warnings []string `json:"warnings,omitempty"`
	// UncertainSteps is how many steps wait for a decision now, of this run or an
	// earlier one; nil when that is not known.
	UncertainSteps *int `json:"uncertainSteps,omitempty"`
	// Summary is nil when the run did not get that far.
	*result.Summary

	pause time.Duration // between attempts; 0 for noticePause
}

const (
	noticeAttempts = 3
	noticeTimeout  = 5 * time.Second // for one attempt
	noticePause    = time.Second     // before the second attempt; twice as long before the third
)

// Post sends the notice to a url. If the receiver does not answer, or answers 429 or
// 5xx, Post tries again: three times in all and for 20 s at most. A notice may arrive
// twice. Redirects are not followed and proxies are not used. The error is one line
// that does not name the url.
func (n Notice) Post(ctx context.Context, url string) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       noticeTimeout,
	}
	for attempt := 1; ; attempt++ {
		again, err := n.postOnce(ctx, client, url, body)
		if err == nil || !again || attempt == noticeAttempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(time.Duration(attempt) * cmp.Or(n.pause, noticePause)):
		case <-ctx.Done():
			return err
		}
	}
}

func (n Notice) postOnce(ctx context.Context, client *http.Client, url string, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the url cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "claimsheet")
	res, err := client.Do(req)
	if err != nil {
		return true, errors.New(unreached(err))
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // the answer's body is not used
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	again = res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests
	return again, fmt.Errorf("the receiver answered HTTP %d", res.StatusCode)
}

// unreached says why there was no answer: the errors themselves name the url.
func unreached(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &dns):
		return "the receiver's host name is not known here"
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		return "the receiver's certificate is not trusted"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "the receiver did not answer in time"
	}
	return "the receiver cannot be reached"
}
