package reports

import (
	"testing"
	"time"
)

// ShortNoticePause makes attempts follow each other at once during a test.
func ShortNoticePause(t *testing.T) {
	usual := noticePause
	noticePause = time.Millisecond
	t.Cleanup(func() { noticePause = usual })
}
