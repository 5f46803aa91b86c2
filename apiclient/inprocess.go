package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
)

// InProcess is a transport that calls h directly, without a socket: for a
// service that lives in the same program. The answer is buffered and handed
// over when h returns. A panic of h, http.ErrAbortHandler included, is an
// error, as a broken connection would be. When the request's context ends
// before h returns, so does RoundTrip, with its error; h goes on by itself, as a
// server's would.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	served := make(chan error, 1)
	rec := &recorder{header: make(http.Header)}
	go func() { served <- serve(t.handler, rec, incoming(ctx, req)) }()
	select {
	case err := <-served:
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		return rec.response(req), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// incoming is req as a server sees it.
func incoming(ctx context.Context, req *http.Request) *http.Request {
	in := req.Clone(ctx)
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	in.URL.Scheme, in.URL.Host = "", ""
	return in
}

func serve(h http.Handler, w http.ResponseWriter, req *http.Request) (err error) {
	defer func() {
		if recover() != nil { // its value may hold personal data
			err = fmt.Errorf("the service broke off the request: %w", io.ErrUnexpectedEOF)
		}
	}()
	h.ServeHTTP(w, req)
	return nil
}

// recorder buffers an answer. It is used by the handler alone until that
// returns.
type recorder struct {
	header http.Header // the handler's, changed until the head is written
	sent   http.Header // as it was when the head was written
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status != 0 || status < 200 { // informational answers are not for the caller
		return
	}
	r.status, r.sent = status, r.header.Clone()
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 && r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", http.DetectContentType(p))
	}
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) response(req *http.Request) *http.Response {
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        statusText(r.status),
		StatusCode:    r.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        r.sent,
		Body:          io.NopCloser(&r.body),
		ContentLength: int64(r.body.Len()),
		Request:       req,
	}
}
