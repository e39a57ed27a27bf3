package main

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
)

type queueStep struct {
	Do  string  `json:"do"`
	Key string  `json:"key"`
	By  float64 `json:"by"`
}

func init() {
	answers("queue.steps", func(steps []queueStep) (any, error) {
		queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
		found := []any{}
		for _, step := range steps {
			found = append(found, queued(queue, step))
		}
		return found, nil
	})
	answers("delayingQueue.steps", func(steps []queueStep) (any, error) {
		clock := testingclock.NewFakeClock(time.Unix(1_000_000, 0))
		queue := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: clock})
		defer queue.ShutDown()
		found := []any{}
		for _, step := range steps {
			switch step.Do {
			case "addAfter":
				queue.AddAfter(step.Key, ms(step.By))
				found = append(found, nil)
			case "advance":
				settle()
				clock.Step(ms(step.By))
				found = append(found, nil)
			default:
				settle()
				found = append(found, queued(queue, step))
			}
		}
		return found, nil
	})
}

// settle lets the queue's own goroutine take what it was given; it has no way to ask for it.
func settle() { time.Sleep(5 * time.Millisecond) }

func queued(queue workqueue.TypedInterface[string], step queueStep) any {
	switch step.Do {
	case "add":
		queue.Add(step.Key)
	case "get":
		if queue.Len() == 0 && !queue.ShuttingDown() {
			return "empty"
		}
		key, down := queue.Get()
		if down {
			return "shut down"
		}
		return key
	case "done":
		queue.Done(step.Key)
	case "len":
		return queue.Len()
	case "shutDown":
		queue.ShutDown()
	case "shuttingDown":
		return queue.ShuttingDown()
	}
	return nil
}
