package main

import (
	"fmt"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// throughQueue hands count keys through a queue: one worker adds, gets and is done with each in
// turn; several get what was added before.
func throughQueue(count, workers int) {
	keys := make([]string, count)
	for number := range keys {
		keys[number] = fmt.Sprintf("shop/web-%d", number)
	}
	queue := workqueue.NewTyped[string]()
	meter := begin()
	if workers == 1 {
		for _, key := range keys {
			queue.Add(key)
			got, _ := queue.Get()
			queue.Done(got)
		}
	} else {
		shared(queue, keys, workers)
	}
	meter.report()
}

func shared(queue workqueue.TypedInterface[string], keys []string, workers int) {
	for _, key := range keys {
		queue.Add(key)
	}
	queue.ShutDown() // a queue that is shut down is emptied first
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				key, over := queue.Get()
				if over {
					return
				}
				queue.Done(key)
			}
		})
	}
	group.Wait()
}
