package ledger_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
)

var (
	powerLossSeed = flag.Uint64("power-loss-seed", 0, "seed of TestPowerLoss; 0 takes a new one")
)

// acknowledged is an event that Append had returned for when so many deeds were
// done.
type acknowledged struct {
	deeds int
	key   string
	to    ledger.State
}

// TestPowerLoss records what SQLite does to the ledger's files while several
// workers append, over several openings, and builds what a power loss at any
// moment of it may leave: everything up to a file's last sync, and of what was
// written since then any part, in sectors, in any order. The ledger opens, and
// holds every event that was acknowledged before.
//
// It trusts that a sync reaches the disk, that a sector is written whole or not
// at all, and that the ledger was there, folder and name, before it began.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	seed := *powerLossSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	losses, each := testform.LongOr(300, 3), 60
	if racing {
		losses, each = max(6, losses/10), 20
	}
	r, acks := recordedLife(t, each)
	moments := make([]int, losses)
	for i := range moments {
		// One in each equal part, so that few moments are spread too.
		from, to := r.far()*i/losses, r.far()*(i+1)/losses
		moments[i] = from + rng.IntN(to-from+1)
	}

	files, at, most := disk{}, 0, 0
	dir := t.TempDir()
	for _, moment := range moments {
		for ; at < moment; at++ {
			files.do(r.deeds[at])
		}
		files.crash(t, rng, dir)
		most = max(most, checkAfterPowerLoss(t, dir, moment, acks))
		if t.Failed() {
			t.Fatalf("after deed %d of %d: %s", moment, r.far(), r.deeds[max(moment-1, 0)].kind)
		}
	}
	if most < len(acks)/2 {
		t.Errorf("no more than %d of %d events were acknowledged before a power loss: the moments are not spread", most, len(acks))
	}
	t.Logf("%d power losses within %d deeds, %d events", len(moments), r.far(), len(acks))
}

// recordedLife opens a new ledger some times and has four goroutines append to
// it, each so many steps, which is enough for the log to be folded into the file
// while it is open.
func recordedLife(t *testing.T, each int) (*recorder, []acknowledged) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(path)
	do(t, err)
	do(t, l.Close())
	r := record(filepath.Dir(path))
	made, err := os.ReadFile(path)
	do(t, err)
	r.add(deed{kind: wrote, file: "ledger.db", data: made})
	r.add(deed{kind: synced, file: "ledger.db"})
	var mu sync.Mutex
	var acks []acknowledged
	const openings = 3
	for opening := range openings {
		l, err := ledger.Open(path)
		do(t, err)
		before := r.syncs("ledger.db")
		var g sync.WaitGroup
		for w := range 4 {
			g.Go(func() {
				for i := range each {
					key := fmt.Sprintf("claim/c/%d-%d-%d", opening, w, i)
					for _, e := range []ledger.Event{
						{To: ledger.Sent, Kind: "claim", Data: []byte(strings.Repeat(key, 400))},
						{To: ledger.Done, Via: ledger.ViaAnswer, ID: key},
					} {
						e.StepID, e.At = jane("m", key), noon
						if err := l.Append(e); err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						acks = append(acks, acknowledged{r.far(), key, e.To})
						mu.Unlock()
					}
				}
			})
		}
		g.Wait()
		if !racing && r.syncs("ledger.db") == before {
			t.Error("the log was never folded into the file while it was open")
		}
		do(t, l.Close())
	}
	if t.Failed() {
		t.FailNow()
	}
	t.Logf("%d syncs of the log, %d of the file", r.syncs("ledger.db-wal"), r.syncs("ledger.db"))
	return r, acks
}

// checkAfterPowerLoss opens what is left and returns how many acknowledged
// events it was held to.
func checkAfterPowerLoss(t *testing.T, dir string, moment int, acks []acknowledged) (held int) {
	path := filepath.Join(dir, "ledger.db")
	if r, err := ledger.OpenReadOnly(path); err != nil || r.Close() != nil {
		t.Errorf("the ledger is refused to who reads: %v", err)
	}
	l, err := ledger.Open(path)
	if err != nil {
		t.Errorf("the ledger is refused: %v", err)
		return 0
	}
	defer l.Close()
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
	do(t, err)
	for _, ack := range acks {
		s, known := steps[ack.key]
		if known && s.To == ledger.Done && s.ID != ack.key {
			t.Errorf("step %s is done with the id %q", ack.key, s.ID)
		}
		if ack.deeds > moment {
			continue
		}
		held++
		if !known || ack.to == ledger.Done && s.To != ledger.Done {
			t.Errorf("%s was acknowledged as %s, and is %q", ack.key, ack.to, s.To)
		}
	}
	do(t, l.Append(ledger.Event{StepID: jane("m", "claim/c/after"), To: ledger.Sent, At: noon, Kind: "claim"}))
	return held
}

// disk is the files of a folder by their names.
type disk map[string]*diskFile

// diskFile is a file as the disk surely has it, and what was done to it since.
type diskFile struct {
	sure    []byte
	synced  bool // there is such a file
	pending []deed
}

// do does a deed.
func (d disk) do(one deed) {
	f := d[one.file]
	if f == nil {
		f = &diskFile{}
		d[one.file] = f
	}
	switch one.kind {
	case synced:
		for _, p := range f.pending {
			f.sure = p.onto(f.sure, nil)
		}
		f.pending, f.synced = nil, true
	case deleted:
		delete(d, one.file)
	default:
		f.pending = append(f.pending, one)
	}
}

// crash writes the files as a power loss may leave them into a folder that held
// those of another one.
func (d disk) crash(t *testing.T, rng *rand.Rand, dir string) {
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	do(t, err)
	for _, name := range old {
		do(t, os.Remove(name))
	}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		f := d[name]
		if !f.synced && rng.IntN(2) == 0 {
			continue // not even its name has reached the disk
		}
		left := slices.Clone(f.sure)
		keep := keeping(rng)
		for _, p := range f.pending {
			left = p.onto(left, keep)
		}
		do(t, os.WriteFile(filepath.Join(dir, name), left, 0o600))
	}
}

const sector = 512

// keeping decides which sectors of what was not synced are kept: those of the
// first writes, any of them, none or all.
func keeping(rng *rand.Rand) func() bool {
	switch n := rng.IntN(200); rng.IntN(4) {
	case 0:
		return func() bool { n--; return n >= 0 }
	case 1:
		return func() bool { return false }
	case 2:
		return func() bool { return true }
	}
	share := rng.IntN(100)
	return func() bool { return rng.IntN(100) < share }
}

// onto does a write or a cut to a file's bytes, sector by sector as keep says;
// nil keeps all.
func (d deed) onto(file []byte, keep func() bool) []byte {
	if d.kind == cut {
		if keep != nil && !keep() {
			return file
		}
		if int(d.size) > len(file) {
			return append(file, make([]byte, int(d.size)-len(file))...)
		}
		return file[:d.size]
	}
	for from := 0; from < len(d.data); {
		at := int(d.at) + from
		n := min(sector-at%sector, len(d.data)-from)
		if keep == nil || keep() {
			if at+n > len(file) {
				file = append(file, make([]byte, at+n-len(file))...)
			}
			copy(file[at:], d.data[from:from+n])
		}
		from += n
	}
	return file
}
