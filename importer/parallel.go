package importer

import (
	"iter"
	"runtime"
	"sync"
)

// inParallel yields work(item) for each item, in the order of the items. It works on every core,
// some items ahead of the consumer, so work must be safe for concurrent use. It reads items in a
// goroutine of its own; all its goroutines end before the iteration returns. An error of items
// ends the iteration; a panic of work or items becomes one in the consumer's goroutine.
func inParallel[T, R any](items iter.Seq2[T, error], work func(T) R) iter.Seq2[R, error] {
	type result struct {
		value    R
		err      error
		panicked any
	}
	return func(yield func(R, error) bool) {
		ordered, stop := make(chan chan result, 2*runtime.GOMAXPROCS(0)), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			defer close(ordered)
			next := func() (done chan result, ok bool) {
				done = make(chan result, 1)
				select {
				case ordered <- done:
					return done, true
				case <-stop:
					return nil, false
				}
			}
			defer func() {
				if p := recover(); p != nil {
					if done, ok := next(); ok {
						done <- result{panicked: p}
					}
				}
			}()
			for item, err := range items {
				done, ok := next()
				if !ok {
					return
				}
				if err != nil {
					done <- result{err: err}
					return
				}
				all.Go(func() {
					var r result
					defer func() {
						r.panicked = recover()
						done <- r
					}()
					r.value = work(item)
				})
			}
		})
		defer all.Wait()
		defer close(stop)
		for done := range ordered {
			r := <-done
			if r.panicked != nil {
				panic(r.panicked)
			}
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
		}
	}
}
