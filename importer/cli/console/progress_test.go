package console

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer"
	"claimsheet/importer/result"
)

// TestProgressLines watches a run of 100 clients, two a second, that the
// service asks to wait for 20 s after its first 10 s.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		look := func() importer.Progress {
			past := time.Since(began)
			at := importer.Progress{Clients: result.Counts{Total: 2 * int(past.Seconds()), Failed: 1}, Requests: 12 * int(past.Seconds())}
			if past >= 10*time.Second && past < 30*time.Second {
				at.Clients.Total, at.Requests = 20, 120
				at.Waiting, at.Until = "the service asks to wait", began.Add(30*time.Second)
			}
			return at
		}
		o := &Observer{log: slog.New(newHandler(&log, "text", slog.LevelInfo))}
		stop := o.Watch(look, 100)
		time.Sleep(41 * time.Second)
		stop()
	})
	got := regexp.MustCompile(`time=\S+ `).ReplaceAllString(log.String(), "")
	want := `level=INFO msg=progress clients=20 of=100 failed=1 uncertain=0 calls=120 callsPerSecond=12.0 secondsLeft=40 waiting="the service asks to wait"
level=INFO msg=progress clients=20 of=100 failed=1 uncertain=0 calls=120 callsPerSecond=6.0 secondsLeft=80 waiting="the service asks to wait"
level=INFO msg=progress clients=60 of=100 failed=1 uncertain=0 calls=360 callsPerSecond=12.0 secondsLeft=20
level=INFO msg=progress clients=80 of=100 failed=1 uncertain=0 calls=480 callsPerSecond=12.0 secondsLeft=10
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
