package studio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"claimsheet/mapping/problem"
)

type failure struct {
	status              int
	code, message, hint string
}

func (f failure) Error() string { return f.message }

// errStale refuses a change that was made for an earlier version.
var errStale = failure{http.StatusConflict, "stale", "the mapping has changed meanwhile, perhaps in another tab",
	"look at it as it is now, and do it again"}

// answer writes what a handler returns as JSON. nil is “nothing new”.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, handle func(*http.Request) (any, error)) {
	body, err := handle(r)
	if err != nil {
		var f failure
		switch p, isProblem := errors.AsType[problem.Problem](err); {
		case errors.As(err, &f):
		case isProblem:
			f = failure{http.StatusUnprocessableEntity, p.Code, problem.OneLine(p.Error()), p.Hint}
		case errors.As(err, new(*http.MaxBytesError)):
			f = failure{http.StatusRequestEntityTooLarge, "too-large", "the request is larger than 4 MiB", ""}
		default:
			f = failure{http.StatusInternalServerError, "", err.Error(), ""}
		}
		var state any
		if f.status == http.StatusConflict {
			s.mu.Lock()
			state = s.state()
			s.mu.Unlock()
		}
		refuse(w, f, state)
		return
	}
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	write(w, http.StatusOK, body)
}

// refuse writes a failure, with the present state if the page needs it.
func refuse(w http.ResponseWriter, f failure, state any) {
	body := map[string]any{"error": map[string]string{"code": f.code, "message": f.message, "hint": f.hint}}
	if state != nil {
		body["state"] = state
	}
	write(w, f.status, body)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // a page that is gone needs no answer
}

func read(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return failure{http.StatusBadRequest, "bad-request", fmt.Sprintf("the request is not what this address takes: %v", err), ""}
	}
	return nil
}
