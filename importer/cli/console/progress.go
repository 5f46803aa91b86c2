package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/cheggaaa/pb/v3"

	"claimsheet/importer"
)

const (
	lookEvery = 250 * time.Millisecond
	logEvery  = 10 * time.Second // the time between progress lines
)

// Watch shows the progress of a run until stop is called; look is called several times a second, clients is how many there are.
func (o *Observer) Watch(look func() importer.Progress, clients int) (stop func()) {
	o.clients, o.watched, o.lastLine = clients, time.Now(), time.Now()
	if o.hasBar && clients > 0 {
		o.bar = pb.New(clients).SetTemplate(barTemplate).SetWriter(o.Terminal).Set(pb.Color, false).Set(pb.Static, true).SetMaxWidth(widest)
		if o.bar.Width() == 0 { // a terminal of unknown size
			o.bar.SetWidth(widest)
		}
		o.bar.Start()
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				o.sample(look(), now)
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-over
		if o.bar != nil {
			o.bar.Finish()
			o.draw(o.wipeBar, nil)
		}
	}
}

// sample shows a snapshot.
func (o *Observer) sample(at importer.Progress, now time.Time) {
	past := now.Sub(o.watched)
	left := time.Duration(0) // an estimate; 0 for none
	if n := at.Clients.Total; n > 0 && n < o.clients {
		left = (past * time.Duration(o.clients-n) / time.Duration(n)).Round(time.Second)
	}
	speed := float64(at.Requests) / past.Seconds()
	if o.bar != nil {
		o.bar.SetCurrent(int64(at.Clients.Total)).Set("words", o.words(at, now, left, speed))
		o.draw(func() { o.bar.Write() }, o.wipeBar)
	}
	if o.NoProgress && at.Waiting == "" || now.Sub(o.lastLine) < logEvery { // what a run waits for is logged in any case
		return
	}
	o.lastLine = now
	attrs := []any{"clients", at.Clients.Total, "of", o.clients, "failed", at.Clients.Failed, "uncertain", at.Clients.Uncertain,
		"calls", at.Requests, "callsPerSecond", fmt.Sprintf("%.1f", speed)}
	if left > 0 {
		attrs = append(attrs, "secondsLeft", int(left.Seconds()))
	}
	if at.Waiting != "" {
		attrs = append(attrs, "waiting", at.Waiting)
	}
	o.log.Info("progress", attrs...)
}

// words returns what is shown beside the bar, the most important first, as much as fits.
func (o *Observer) words(at importer.Progress, now time.Time, left time.Duration, speed float64) string {
	var words []string
	if at.Waiting != "" {
		words = append(words, at.Waiting)
		if wait := at.Until.Sub(now); wait > 0 {
			words[0] += ": " + max(wait, time.Second).Round(time.Second).String()
		}
	}
	if n := at.Clients.Failed; n > 0 {
		words = append(words, fmt.Sprintf("%d failed", n))
	}
	if n := at.Clients.Uncertain; n > 0 {
		words = append(words, fmt.Sprintf("%d uncertain", n))
	}
	if left > 0 {
		words = append(words, "ETA "+left.String())
	}
	line := strings.Join(append(words, fmt.Sprintf("%.0f calls/s", speed)), "  ")
	room := o.bar.Width() - 2*len(fmt.Sprint(o.clients)) - len("/ [=====] ")
	return line[:max(min(len(line), room), 0)]
}

// widest is how many columns the bar may take: on Windows the library may not know the console's width, and a longer line is repeated.
const widest = 79

// barTemplate has no colours and escape sequences, so that the bar respects NO_COLOR and works on every console.
const barTemplate pb.ProgressBarTemplate = `{{counters . "%s/%s"}} {{bar . "[" "=" ">" " " "]"}} {{string . "words"}}`

// draw draws or removes the progress bar. wipe clears its line before anything else is printed; nil when the bar is gone.
func (o *Observer) draw(paint, wipe func()) {
	o.printing.Lock()
	defer o.printing.Unlock()
	paint()
	o.wipe = wipe
}

// wipeBar clears the line of the bar.
func (o *Observer) wipeBar() {
	_, _ = o.Terminal.Write([]byte("\r" + strings.Repeat(" ", o.bar.Width()) + "\r"))
}
