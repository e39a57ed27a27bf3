package main

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// seen is reported for each pod with a mark (the message of its status): when its reconcile began.
type seen struct {
	Mark string `json:"mark"`
	At   int64  `json:"at"` // nanoseconds since 1970
}

// reconcile is the usual controller: an informer, a queue of keys, one worker. It says hello
// once all pods have been reconciled, and after that tells of each new mark.
func reconcile(client kubernetes.Interface, objects int) {
	factory := informersOf(client)
	pods := factory.Core().V1().Pods()
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
	)
	add := func(object any) {
		key, err := cache.DeletionHandlingObjectToName(object)
		check(err)
		queue.Add(key)
	}
	_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, changed any) { add(changed) },
		DeleteFunc: add,
	})
	check(err)
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	reported := map[string]bool{"": true}
	for done := 1; ; done++ {
		key, _ := queue.Get()
		at := time.Now().UnixNano()
		pod, err := pods.Lister().Pods(key.Namespace).Get(key.Name)
		check(err)
		if mark := pod.Status.Message; !reported[mark] {
			reported[mark] = true
			if done > objects {
				say(seen{mark, at})
			}
		}
		queue.Forget(key)
		queue.Done(key)
		if done == objects {
			say(seen{"", at})
		}
	}
}
