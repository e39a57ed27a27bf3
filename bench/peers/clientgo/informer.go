package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// runInformer keeps all pods in an informer, reports, and then waits for updates: once, or with
// -turns again and again.
func runInformer(client kubernetes.Interface, objects, events int) {
	meter := begin()
	factory := informersOf(client)
	informer := factory.Core().V1().Pods().Informer()
	var updates atomic.Int64
	enough := make(chan struct{}, 1)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, changed any) {
			if changed.(*corev1.Pod).Name != "" && updates.Add(1) == int64(events) {
				updates.Store(0)
				enough <- struct{}{}
			}
		},
	})
	check(err)
	fill(factory, informer, objects)
	meter.report()

	if events > 0 {
		meter = meter.again()
		<-enough
		for *inTurns {
			meter.reportTurn()
			meter = meter.again()
			<-enough
		}
		meter.report()
	}
	runtime.KeepAlive(informer)
}

// informersOf is the factory for the pods of all namespaces, or of one.
func informersOf(client kubernetes.Interface) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(*namespace))
}

// lookUp asks count times for the pods of every node.
func lookUp(client kubernetes.Interface, objects, count int) {
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	check(informer.AddIndexers(cache.Indexers{"node": func(object any) ([]string, error) {
		return []string{object.(*corev1.Pod).Spec.NodeName}, nil
	}}))
	fill(factory, informer, objects)
	meter, found := begin(), 0
	for range count {
		for _, node := range informer.GetIndexer().ListIndexFuncValues("node") {
			pods, err := informer.GetIndexer().ByIndex("node", node)
			check(err)
			found += len(pods)
		}
	}
	expect(found, objects*count)
	meter.report()
}

// selectPods lists count times the pods of one service.
func selectPods(client kubernetes.Interface, objects, count int) {
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	fill(factory, pods.Informer(), objects)
	meter := begin()
	for number := range count {
		asked, err := labels.Parse(fmt.Sprintf("app.kubernetes.io/name=service-%d", number%40))
		check(err)
		found, err := pods.Lister().List(asked)
		check(err)
		expect(len(found), objects/40)
	}
	meter.report()
}

func fill(factory informers.SharedInformerFactory, informer cache.SharedIndexInformer, objects int) {
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for len(informer.GetStore().ListKeys()) < objects {
		time.Sleep(10 * time.Millisecond)
	}
}

func expect(found, wanted int) {
	if found != wanted {
		check(fmt.Errorf("found %d, wanted %d", found, wanted))
	}
}
