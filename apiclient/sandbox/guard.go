package sandbox

import (
	"net"
	"net/http"
	"slices"
)

// DefaultAddress is where the sandbox listens unless another address is asked for.
// Redirect urls that a run makes without a server lead there.
const DefaultAddress = "127.0.0.1:8080"

// Guard returns a Service, or what stands in front of one, that listens on addr behind
// checks of Host and Origin. A web page that the user visits cannot use it: requests for
// another host (DNS rebinding) and cross-origin requests get a 403, and there are no CORS
// headers.
func Guard(service http.Handler, addr net.Addr) http.Handler {
	_, port, _ := net.SplitHostPort(addr.String())
	hosts := []string{addr.String(), "localhost:" + port}
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(http.StatusForbidden, "cross-origin", "Origin", "the request comes from a web page of another origin: expected none").write(w)
	}))
	inner := origins.Handler(service)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(hosts, r.Host) {
			refuse(http.StatusForbidden, "wrong-host", "Host", "the request is for another host: expected %s", hosts[0]).write(w)
			return
		}
		inner.ServeHTTP(w, r)
	})
}
