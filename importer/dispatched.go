package importer

import (
	"sync"

	"claimsheet/apiclient"
)

// dispatched is what a coordinator knows of the groups that workers have. It is safe for
// concurrent use.
type dispatched struct {
	mu      sync.Mutex
	last    int64
	out     map[int64]bool       // numbers whose outcomes have not come in
	unseen  int                  // Checks in a row that saw no worker
	workers map[string]wireGroup // what each process has sent, without Clients
}

// add returns a number for a group that is handed over.
func (d *dispatched) add() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out == nil {
		d.out = map[int64]bool{}
	}
	d.last++
	d.out[d.last] = true
	return d.last
}

// remove notes that a group is not out any more, and reports whether it was.
func (d *dispatched) remove(number int64) (was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was = d.out[number]
	delete(d.out, number)
	return was
}

// count is how many groups are out.
func (d *dispatched) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.out)
}

// seen notes how many workers a Check has seen.
func (d *dispatched) seen(workers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unseen++; workers > 0 {
		d.unseen = 0
	}
}

// note keeps what a worker has sent for the run so far. Outcomes come in any order, so a lower
// total is an older one.
func (d *dispatched) note(w wireGroup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.workers == nil {
		d.workers = map[string]wireGroup{}
	}
	if w.Clients = nil; total(w.Sent) >= total(d.workers[w.Process].Sent) {
		d.workers[w.Process] = w
	}
}

// sums are the requests that the workers have sent, and how often they have sent some again.
func (d *dispatched) sums() (sent map[apiclient.Kind]int, retries map[string]int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sent, retries = map[apiclient.Kind]int{}, map[string]int{}
	for _, w := range d.workers {
		addCounts(sent, w.Sent)
		addCounts(retries, w.Retries)
	}
	return sent, retries
}

func addCounts[K comparable](to, counts map[K]int) {
	for k, n := range counts {
		to[k] += n
	}
}

func total[K comparable](counts map[K]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// waiting says that nobody carries out what was handed over; "" when somebody does. A
// worker needs a moment to begin, so one Check that sees none says nothing.
func (d *dispatched) waiting() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.out) == 0 || d.unseen < 2 {
		return ""
	}
	return "no worker is at work: start claimsheet worker"
}

// wireGroup is the outcomes of a group on their way to the coordinator, with what the process
// has sent for the run so far.
type wireGroup struct {
	Clients []clientOutcome

	Fatal string // why the run cannot go on; "" as a rule

	Process string // of the worker, in the shared rules
	Sent    map[apiclient.Kind]int
	Retries map[string]int
}
