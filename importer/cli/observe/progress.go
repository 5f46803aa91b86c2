package observe

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/cheggaaa/pb/v3"

	"claimsheet/importer"
)

const (
	lookEvery = 250 * time.Millisecond
	// logEvery is the time between progress lines, and between the lines of a pause
	// that comes back.
	logEvery = 10 * time.Second
	// minPause is how long a wait must be to be logged.
	minPause = time.Second
	// speedOver is the time over which calls per second are averaged.
	speedOver = 5 * time.Second
)

// Watch shows the progress of a run, with a bar, log lines or not at all, until stop
// is called. look is called several times a second; clients is how many there are.
func (o *Observer) Watch(look func() importer.Progress, clients int) (stop func()) {
	w := &watcher{look: look, total: clients, log: o.log, began: time.Now(), lastLine: time.Now()}
	if w.log.bar && clients > 0 {
		w.bar = newBar(o.stderr, clients)
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				w.sample(now)
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-over
		if w.bar != nil {
			w.bar.finish()
		}
	}
}

// watcher takes snapshots of a run. One goroutine uses it.
type watcher struct {
	look  func() importer.Progress
	total int // clients
	log   *runLog
	bar   *bar // nil for none

	began    time.Time
	lastLine time.Time // when the last progress line was written
	paused   time.Time // when the last line of a pause was written
	waiting  string    // what the log knows the run to be waiting for
	recent   []rateSample
}

// rateSample is how many calls had been made at a time.
type rateSample struct {
	at    time.Time
	calls int
}

// sample takes a snapshot and shows it.
func (w *watcher) sample(now time.Time) {
	at := w.look()
	s := progressSnapshot{Progress: at, total: w.total, speed: w.speed(now, at.Requests)}
	if w.bar != nil {
		w.bar.show(s, now)
	}
	w.logPause(s, now)
	if w.log.progress && now.Sub(w.lastLine) >= logEvery {
		w.lastLine = now
		w.log.Info("progress", w.attrs(s, now)...)
	}
}

// speed returns the recent calls per second.
func (w *watcher) speed(now time.Time, calls int) float64 {
	w.recent = append(w.recent, rateSample{now, calls})
	for len(w.recent) > 2 && now.Sub(w.recent[0].at) > speedOver {
		w.recent = w.recent[1:]
	}
	first := w.recent[0]
	if past := now.Sub(first.at).Seconds(); past > 0 {
		return float64(calls-first.calls) / past
	}
	return 0
}

// logPause logs that the run waits, and that it continues. Short pauses, and those
// that follow another at once, are not logged.
func (w *watcher) logPause(s progressSnapshot, now time.Time) {
	switch {
	case s.Waiting == w.waiting:
	case s.Waiting == "":
		w.waiting = ""
		w.log.Info("going on", "clients", s.Clients.Total)
	case (s.Until.IsZero() || s.Until.Sub(now) >= minPause) && now.Sub(w.paused) >= logEvery:
		w.waiting, w.paused = s.Waiting, now
		attrs := []any{"why", s.Waiting}
		if !s.Until.IsZero() {
			attrs = append(attrs, "seconds", int(s.Until.Sub(now).Round(time.Second).Seconds()))
		}
		w.log.Info("paused", attrs...)
	}
}

func (w *watcher) attrs(s progressSnapshot, now time.Time) []any {
	attrs := []any{"clients", s.Clients.Total, "of", s.total, "failed", s.Clients.Failed, "uncertain", s.Clients.Uncertain,
		"calls", s.Requests, "callsPerSecond", fmt.Sprintf("%.1f", s.speed)}
	if left, ok := s.left(now.Sub(w.began)); ok {
		attrs = append(attrs, "secondsLeft", int(left.Seconds()))
	}
	if s.Waiting != "" {
		attrs = append(attrs, "waiting", s.Waiting)
	}
	return attrs
}

// progressSnapshot is the progress of a run at a time.
type progressSnapshot struct {
	importer.Progress
	total int
	speed float64 // calls per second
}

// left estimates how long the rest takes.
func (s progressSnapshot) left(past time.Duration) (time.Duration, bool) {
	if s.Clients.Total == 0 || s.total <= s.Clients.Total {
		return 0, false
	}
	return past * time.Duration(s.total-s.Clients.Total) / time.Duration(s.Clients.Total), true
}

// words returns what is shown beside the bar, the most important first.
func (s progressSnapshot) words(past time.Duration, now time.Time) []string {
	var words []string
	if s.Waiting != "" {
		wait := s.Waiting
		if left := s.Until.Sub(now); left > 0 {
			wait = fmt.Sprintf("%s: %s", wait, rounded(left))
		}
		words = append(words, wait)
	}
	if n := s.Clients.Failed; n > 0 {
		words = append(words, fmt.Sprintf("%d failed", n))
	}
	if n := s.Clients.Uncertain; n > 0 {
		words = append(words, fmt.Sprintf("%d uncertain", n))
	}
	if left, ok := s.left(past); ok {
		words = append(words, "ETA "+rounded(left))
	}
	return append(words, fmt.Sprintf("%.0f calls/s", s.speed))
}

// rounded formats a duration for people: 28s, 4m10s, 2h5m0s.
func rounded(d time.Duration) string { return max(d, time.Second).Round(time.Second).String() }

const (
	// widest is how many columns the bar may take. On Windows the library does not
	// always know the width of the console, and a line that is too long would be
	// repeated at every update.
	widest        = 100
	widestWindows = 79
	// leastBar is the width of the bar itself below which words are left out.
	leastBar = 8
)

// barTemplate is counters, the bar, and words that fit.
const barTemplate pb.ProgressBarTemplate = `{{counters . "%s/%s"}} {{string . "unit"}}{{bar . "[" "=" ">" " " "]"}} {{string . "words"}}`

// unit follows the counters when the terminal has unitFrom columns.
const (
	unit     = "clients "
	unitFrom = 60
)

// bar is the line of a terminal that shows the progress of a run. It is drawn with
// a carriage return and blanks only, without colours and escape sequences, so it
// respects NO_COLOR and works on every console.
type bar struct {
	pb    *pb.ProgressBar
	out   *stderrWriter
	began time.Time
}

func newBar(out *stderrWriter, total int) *bar {
	b := &bar{pb: pb.New(total), out: out, began: time.Now()}
	b.pb.SetTemplate(barTemplate).SetWriter(out.terminal).Set(pb.Color, false).Set(pb.Static, true)
	b.pb.SetMaxWidth(widest)
	if runtime.GOOS == "windows" {
		b.pb.SetMaxWidth(widestWindows)
	}
	if b.pb.Width() == 0 { // a terminal of unknown size
		b.pb.SetWidth(widestWindows)
	}
	b.pb.Start()
	return b
}

// show draws the line.
func (b *bar) show(s progressSnapshot, now time.Time) {
	b.pb.SetCurrent(int64(s.Clients.Total))
	width, said := b.pb.Width(), ""
	if width >= unitFrom {
		said = unit
	}
	b.pb.Set("unit", said)
	room := width - len(said) - len(b.pb.Format(int64(s.Clients.Total))) - len(b.pb.Format(int64(s.total))) - leastBar
	b.pb.Set("words", fitting(s.words(now.Sub(b.began), now), room))
	b.out.draw(func() { b.pb.Write() }, b.wipe)
}

// fitting joins as many words as fit into room columns; a first word that does not
// fit is cut.
func fitting(words []string, room int) string {
	line := ""
	for i, w := range words {
		switch {
		case i == 0 && len(w) > room:
			return w[:max(room, 0)]
		case i == 0:
			line = w
		case len(line)+2+len(w) <= room:
			line += "  " + w
		}
	}
	return line
}

// wipe clears the line.
func (b *bar) wipe() {
	_, _ = b.out.terminal.Write([]byte("\r" + strings.Repeat(" ", b.pb.Width()) + "\r"))
}

// finish removes the bar.
func (b *bar) finish() {
	b.pb.Finish()
	b.out.draw(b.wipe, nil)
}
