package environment

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"golang.org/x/oauth2"

	"claimsheet/apiclient"
)

// tokenFailure keeps of an error what can be shown. The library's errors quote
// the endpoint's answer, and the endpoint may quote the secret; a url.Error
// repeats the whole url. The request that needed the token was surely not sent.
func tokenFailure(err error) *apiclient.Failure {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return tokenRefused(refused)
	}
	failed, ok := errors.AsType[*url.Error](err)
	if !ok {
		return unsent("the token endpoint's answer holds no token", nil)
	}
	cause := failed.Err
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		f := unsent("the token endpoint's certificate is not trusted", cause)
		f.Stop = true
		return f
	}
	switch {
	case errors.Is(cause, context.Canceled):
		return unsent("stopped while waiting for an OAuth2 token", cause)
	case failed.Timeout():
		return unsent("the token endpoint does not answer in time", cause)
	}
	return unsent("the token endpoint cannot be reached", cause)
}

// tokenRefused is an answer without a token. One that blames the request will
// be the same for the next; one that asks for patience or tells of a broken
// server may not.
func tokenRefused(refused *oauth2.RetrieveError) *apiclient.Failure {
	status := refused.Response.StatusCode
	reason := fmt.Sprintf("the token endpoint answered with status %d", status)
	if slices.Contains(tokenErrorCodes, refused.ErrorCode) {
		reason += " (" + refused.ErrorCode + ")"
	}
	f := unsent(reason, nil)
	f.Stop = status < 500 && status != 408 && status != 429
	return f
}

// tokenErrorCodes are those of RFC 6749, section 5.2.
var tokenErrorCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant",
	"unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

func unsent(reason string, cause error) *apiclient.Failure {
	return &apiclient.Failure{NotSent: true, Reason: reason, Err: cause}
}
