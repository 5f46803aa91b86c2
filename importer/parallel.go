package importer

import (
	"iter"
	"runtime"
	"sync"
)

// inParallel yields the results of work(item) for each item, in the order of the items. It works on every
// core, some items ahead of the consumer, so work must be safe for concurrent use. It reads items in a
// goroutine of its own; all its goroutines end before the iteration returns. An error of items
// ends the iteration; a panic of work or items becomes one in the consumer's goroutine.
func inParallel[T, R any](items iter.Seq2[T, error], work func(T) []R) iter.Seq2[R, error] {
	type outcome struct {
		results  []R
		err      error
		panicked any
	}
	return func(yield func(R, error) bool) {
		ordered, stop := make(chan chan outcome, 2*runtime.GOMAXPROCS(0)), make(chan struct{})
		var all sync.WaitGroup
		next := func() (done chan outcome, ok bool) {
			done = make(chan outcome, 1)
			select {
			case ordered <- done:
				return done, true
			case <-stop:
				return nil, false
			}
		}
		all.Go(func() {
			defer close(ordered)
			defer func() {
				if p := recover(); p != nil {
					if done, ok := next(); ok {
						done <- outcome{panicked: p}
					}
				}
			}()
			for item, err := range items {
				done, ok := next()
				if !ok {
					return
				}
				if err != nil {
					done <- outcome{err: err}
					return
				}
				all.Go(func() {
					var o outcome
					defer func() {
						o.panicked = recover()
						done <- o
					}()
					o.results = work(item)
				})
			}
		})
		defer all.Wait()
		defer close(stop)
		for done := range ordered {
			o := <-done
			if o.panicked != nil {
				panic(o.panicked)
			}
			if o.err != nil {
				yield(*new(R), o.err)
				return
			}
			for _, r := range o.results {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}
