package cli

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
	// logEvery is how far progress lines are apart, and the lines of a pause that
	// comes back again and again.
	logEvery = 10 * time.Second
	// worthTelling is how long a wait must be for the log to speak of it.
	worthTelling = time.Second
	// speedOver is the time over which calls per second are taken.
	speedOver = 5 * time.Second
)

// watch shows how far a run has come until the returned function is called:
// with a bar, with log lines, or not at all. Nothing of it changes a result.
func (p *program) watch(look func() importer.Progress, total int, ceiling float64) (stop func()) {
	w := &watcher{look: look, total: total, ceiling: ceiling, log: p.attended.log, began: time.Now(), told: time.Now()}
	if w.log.bar && total > 0 {
		w.bar = newBar(p.attended.out, total)
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				w.see(now)
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

// watcher looks at a run from time to time. One goroutine uses it.
type watcher struct {
	look    func() importer.Progress
	total   int     // clients
	ceiling float64 // calls per second; 0 for none
	log     *runLog
	bar     *bar // nil for none

	began   time.Time
	told    time.Time // when the last progress line was written
	paused  time.Time // when the last line of a pause was written
	waiting string    // what the log knows the run to be waiting for
	recent  []sample
}

// sample is how many calls had been made at a time.
type sample struct {
	at    time.Time
	calls int
}

// see takes one look.
func (w *watcher) see(now time.Time) {
	at := w.look()
	s := stand{Progress: at, total: w.total, speed: w.speed(now, at.Requests)}
	if s.Waiting == "" && w.ceiling > 0 && s.speed >= 0.9*w.ceiling {
		s.Waiting = fmt.Sprintf("rate limit, %g calls/s", w.ceiling)
		s.limited = true
	}
	if w.bar != nil {
		w.bar.show(s, now)
	}
	w.tellPause(s, now)
	if w.log.progress && now.Sub(w.told) >= logEvery {
		w.told = now
		w.log.Info("progress", w.attrs(s, now)...)
	}
}

// speed is the calls per second of late.
func (w *watcher) speed(now time.Time, calls int) float64 {
	w.recent = append(w.recent, sample{now, calls})
	for len(w.recent) > 2 && now.Sub(w.recent[0].at) > speedOver {
		w.recent = w.recent[1:]
	}
	first := w.recent[0]
	if past := now.Sub(first.at).Seconds(); past > 0 {
		return float64(calls-first.calls) / past
	}
	return 0
}

// tellPause logs that the run waits, and that it goes on. A pause that is over
// in a moment is not told, nor is one that comes back at once.
func (w *watcher) tellPause(s stand, now time.Time) {
	switch {
	case s.Waiting == w.waiting || s.limited:
	case s.Waiting == "":
		w.waiting = ""
		w.log.Info("going on", "clients", s.Clients.Total)
	case (s.Until.IsZero() || s.Until.Sub(now) >= worthTelling) && now.Sub(w.paused) >= logEvery:
		w.waiting, w.paused = s.Waiting, now
		attrs := []any{"why", s.Waiting}
		if !s.Until.IsZero() {
			attrs = append(attrs, "seconds", int(s.Until.Sub(now).Round(time.Second).Seconds()))
		}
		w.log.Info("paused", attrs...)
	}
}

func (w *watcher) attrs(s stand, now time.Time) []any {
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

// stand is how a run stands.
type stand struct {
	importer.Progress
	total   int
	speed   float64 // calls per second
	limited bool    // it waits for nothing but the configured rate
}

// left is about how long the rest takes, by what the part that is through took.
func (s stand) left(past time.Duration) (time.Duration, bool) {
	if s.Clients.Total == 0 || s.total <= s.Clients.Total {
		return 0, false
	}
	return past * time.Duration(s.total-s.Clients.Total) / time.Duration(s.Clients.Total), true
}

// words are a stand beside the bar, the most important first.
func (s stand) words(past time.Duration, now time.Time) []string {
	var words []string
	if s.Waiting != "" && !s.limited {
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
	words = append(words, fmt.Sprintf("%.0f calls/s", s.speed))
	if s.limited {
		words = append(words, "rate limit")
	}
	return words
}

// rounded is a duration as people say it: 28s, 4m10s, 2h5m.
func rounded(d time.Duration) string {
	if d >= time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return max(d, time.Second).Round(time.Second).String()
}

const (
	// widest is the most columns that the bar takes. Under Windows the library
	// cannot always tell how wide the console is, and a line that is too long
	// would be repeated with every look.
	widest        = 100
	widestWindows = 79
	// leastBar is the least that is left for the bar itself before words are
	// left out.
	leastBar = 8
)

// barTemplate is counters, the bar, and what there is room for.
const barTemplate pb.ProgressBarTemplate = `{{counters . "%s/%s"}} {{string . "unit"}}{{bar . "[" "=" ">" " " "]"}} {{string . "words"}}`

// unit is said of the counters where the terminal is wide enough.
const (
	unit     = "clients "
	unitFrom = 60
)

// bar is the one line of a terminal that shows how a run stands. It is drawn
// with a carriage return and blanks only: no colours, no escape sequences, so
// that NO_COLOR is kept and the oldest console shows it.
type bar struct {
	pb    *pb.ProgressBar
	out   *outlet
	began time.Time
}

func newBar(out *outlet, total int) *bar {
	b := &bar{pb: pb.New(total), out: out, began: time.Now()}
	b.pb.SetTemplate(barTemplate).SetWriter(out.terminal).Set(pb.Color, false).Set(pb.Static, true)
	b.pb.SetMaxWidth(widest)
	if runtime.GOOS == "windows" {
		b.pb.SetMaxWidth(widestWindows)
	}
	if b.pb.Width() == 0 { // a terminal that was never told its size
		b.pb.SetWidth(widestWindows)
	}
	b.pb.Start()
	return b
}

// show draws the line anew.
func (b *bar) show(s stand, now time.Time) {
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

// fitting joins as many words as there is room for; the first is cut where
// there is not even room for it.
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

// wipe clears the line for something else.
func (b *bar) wipe() {
	_, _ = b.out.terminal.Write([]byte("\r" + strings.Repeat(" ", b.pb.Width()) + "\r"))
}

// finish takes the bar away: the summary follows.
func (b *bar) finish() {
	b.pb.Finish()
	b.out.draw(b.wipe, nil)
}
