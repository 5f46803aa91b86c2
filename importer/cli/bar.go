package cli

import (
	"runtime"
	"strings"
	"time"

	"github.com/cheggaaa/pb/v3"
)

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
