// Package parallel works on the items of an iterator on every core and keeps their order.
package parallel

import (
	"iter"
	"runtime"
	"sync"
)

// Map yields work(item) for each item, in the order of the items. It works
// on every core, some items ahead of the consumer, so work must be safe for
// concurrent use. It reads items in a goroutine of its own, which ends before
// the iteration returns. An error of items ends the iteration; a panic of work
// or items becomes one in the consumer's goroutine.
func Map[T, R any](items iter.Seq2[T, error], work func(T) R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		workers := runtime.GOMAXPROCS(0)
		a := &pipeline[T, R]{
			ordered: make(chan *task[T, R], 2*workers), open: make(chan *task[T, R], 2*workers), stop: make(chan struct{}),
		}
		a.wait.Go(func() { a.feed(items) })
		for range workers {
			a.wait.Go(func() { a.worker(work) })
		}
		defer a.end()
		for t := range a.ordered {
			<-t.done
			if t.panicked != nil {
				panic(t.panicked)
			}
			if !yield(t.result, t.err) || t.err != nil {
				return
			}
		}
	}
}

// task is an item on its way to a result.
type task[T, R any] struct {
	item     T
	result   R
	err      error
	panicked any
	done     chan struct{}
}

type pipeline[T, R any] struct {
	ordered chan *task[T, R] // for the consumer, in the order of the items
	open    chan *task[T, R] // for the workers
	stop    chan struct{}    // closed when the consumer ends the iteration
	wait    sync.WaitGroup
}

// feed hands out the items until they end or the consumer stops.
func (a *pipeline[T, R]) feed(items iter.Seq2[T, error]) {
	defer close(a.ordered)
	defer close(a.open)
	var last *task[T, R]
	defer func() {
		if p := recover(); p != nil { // only the consumer's goroutine handles panics
			last = &task[T, R]{panicked: p, done: make(chan struct{})}
			close(last.done)
			a.put(a.ordered, last)
		}
	}()
	for item, err := range items {
		last = &task[T, R]{item: item, err: err, done: make(chan struct{})}
		if err != nil {
			close(last.done)
			a.put(a.ordered, last)
			return
		}
		if !a.put(a.ordered, last) || !a.put(a.open, last) {
			return
		}
	}
}

func (a *pipeline[T, R]) put(to chan *task[T, R], t *task[T, R]) bool {
	select {
	case to <- t:
		return true
	case <-a.stop:
		return false
	}
}

func (a *pipeline[T, R]) worker(work func(T) R) {
	for t := range a.open {
		a.one(t, work)
	}
}

func (a *pipeline[T, R]) one(t *task[T, R], work func(T) R) {
	defer close(t.done)
	defer func() { t.panicked = recover() }()
	t.result = work(t.item)
}

func (a *pipeline[T, R]) end() {
	close(a.stop)
	a.wait.Wait()
}
