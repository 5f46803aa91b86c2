package reports

import "time"

// WithPause sets how long to wait between attempts to post.
func (n Notice) WithPause(d time.Duration) Notice {
	n.pause = d
	return n
}
