package cli_test

import (
	"hash/crc32"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// variant is one combination under which nothing may be created twice.
type variant struct {
	way     string // how a step ended in doubt, see doubt
	order   string // where a newcomer stands in the sheet, see rows
	workers string
	odd     bool // alternates, for a choice that does not double the number of variants
}

var (
	everyWay   = []string{"unclear", "killed"}
	everyOrder = []string{"above", "below", "alone"}
	bothOrders = everyOrder[:2]
)

// inEveryVariant runs a test with -long in each way, in each order, with each number of workers
// and, where an answer is unclear, with a late one and a 500, side by side; odd alternates. A nil
// axis has no meaning for the test. Without -long it runs one of these, another for each test.
func inEveryVariant(t *testing.T, ways, orders []string, test func(*testing.T, variant)) {
	t.Parallel()
	if ways == nil {
		ways = []string{""}
	}
	if orders == nil {
		orders = []string{""}
	}
	run := func(v variant) {
		t.Run(strings.Join(strings.Fields(v.way+" "+v.order+" "+v.workers), " "), func(t *testing.T) {
			t.Parallel()
			test(t, v)
		})
	}
	workers, unclear := []string{"2", "8"}, []string{"late", "answered 500"}
	name := int(crc32.ChecksumIEEE([]byte(t.Name())) >> 8)
	if !*long {
		n := name % max(len(ways), len(orders))
		turn := func(bit, of int) int { return (name>>bit + n) % of }
		v := variant{ways[turn(0, len(ways))], orders[n%len(orders)], workers[turn(1, 2)], turn(2, 2) == 1}
		if v.way == "unclear" {
			v.way = unclear[turn(3, 2)]
		}
		run(v)
		return
	}
	for i, way := range ways {
		for j, order := range orders {
			for k := range 4 {
				v := variant{way, order, workers[k%2], (name+i+j+k%2+k/2)%2 == 1}
				if way == "unclear" {
					v.way = unclear[k/2]
				} else if k > 1 {
					break
				}
				run(v)
			}
		}
	}
}

// flags returns flags that set the number of workers, and more.
func (v variant) flags(more ...string) []string { return append(more, "--concurrency", v.workers) }

// rows is a sheet in which the newcomer stands where the variant says.
func (v variant) rows(known, newcomer []any) [][]any {
	switch v.order {
	case "above":
		return [][]any{newcomer, known}
	case "below":
		return [][]any{known, newcomer}
	}
	return [][]any{newcomer}
}

// doubt runs the program over the scene's sheet and leaves a step in doubt that the
// service has created: its answer says nothing, comes after the program has stopped
// waiting for it, or meets a killed program. "not created" is an answer that says
// nothing to a request that created nothing. While the program runs, look-ups find
// nobody.
func (v variant) doubt(s *scene, step string) {
	s.t.Helper()
	switch v.way {
	case "answered 500":
		s.inDoubt(step, apitest.CreateThen(apitest.JSON(500, `{}`)))
		s.mustRun(4, v.flags()...)
	case "late":
		entry := s.entry
		s.environment(entry + "\nlimits: {timeout: 1s}")
		s.inDoubt(step, apitest.CreateLate(0))
		s.mustRun(4, v.flags()...)
		s.environment(entry)
	case "not created":
		s.inDoubt(step, apitest.Answer(apitest.JSON(500, `{}`)))
		s.mustRun(4, v.flags()...)
	case "killed":
		s.killWhenMade(step, v.flags()...)
	default:
		s.t.Fatalf("no way of doubt is %q", v.way)
	}
	s.settleDown()
	s.service.Play(nil)
}

// inDoubt plays a fault for the first request of a step, and lets look-ups find
// nobody.
func (s *scene) inDoubt(step string, f apitest.Fault) {
	once := apitest.Once(onStep(step), f)
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "lookup" {
			return apitest.Answer(s.service.Nobody)
		}
		return once(c)
	})
}

// killWhenMade runs the built program and kills it when the service has created a
// step and not answered yet.
func (s *scene) killWhenMade(step string, flags ...string) {
	s.t.Helper()
	p := child(programName, s.args(flags...))
	before, dead := s.connections.seen(), make(chan struct{})
	s.inDoubt(step, apitest.Fault{Then: func() {
		p.kill()
		<-dead
	}})
	code, said := p.end(s.t)
	close(dead)
	for s.connections.since(before) { // what it has sent is on its way
		time.Sleep(time.Millisecond)
	}
	if code != -1 {
		s.t.Fatalf("exit code %d: it was not killed\n%s", code, said)
	}
	s.since()
}

// connections counts the open connections of a scene's service, in the order in which
// they came.
type connections struct {
	mu    sync.Mutex
	count int
	open  map[net.Conn]int
}

func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open == nil {
			c.open = map[net.Conn]int{}
		}
		c.count++
		c.open[conn] = c.count
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// seen is how many there were.
func (c *connections) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// since reports whether a connection is open that came after the first n.
func (c *connections) since(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.open {
		if at > n {
			return true
		}
	}
	return false
}
