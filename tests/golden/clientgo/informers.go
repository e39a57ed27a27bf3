package main

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// history is what a server answers: each list and each watch in turn.
type history struct {
	Lists []struct {
		Items   []item `json:"items"`
		Version string `json:"version"`
		Error   int    `json:"error"`
	} `json:"lists"`
	Watches []struct {
		Events []struct {
			Type string `json:"type"`
			Item item   `json:"item"`
		} `json:"events"`
		// closed, expired, or stays open
		End string `json:"end"`
	} `json:"watches"`
}

const last = "the-end"

type scripted struct {
	history
	lock           sync.Mutex
	lists, watches int
}

// IsWatchListSemanticsUnSupported keeps the reflector to lists.
func (*scripted) IsWatchListSemanticsUnSupported() bool { return true }

func (given *scripted) List(metav1.ListOptions) (runtime.Object, error) {
	given.lock.Lock()
	defer given.lock.Unlock()
	found := given.Lists[min(given.lists, len(given.Lists)-1)]
	given.lists++
	if found.Error != 0 {
		return nil, apierrors.NewGenericServerResponse(found.Error, "get", corev1.Resource("pods"), "", "", 0, false)
	}
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: found.Version}}
	for _, each := range found.Items {
		list.Items = append(list.Items, *each.pod())
	}
	return list, nil
}

func (given *scripted) Watch(options metav1.ListOptions) (watch.Interface, error) {
	given.lock.Lock()
	index := given.watches
	given.watches++
	given.lock.Unlock()
	events := make(chan watch.Event)
	stopped := watch.NewProxyWatcher(events)
	if index >= len(given.Watches) {
		return stopped, nil
	}
	go given.play(index, events, stopped.StopChan())
	return stopped, nil
}

func (given *scripted) play(index int, events chan watch.Event, stop <-chan struct{}) {
	script := given.Watches[index]
	send := func(event watch.Event) bool {
		select {
		case events <- event:
			return true
		case <-stop:
			return false
		}
	}
	for _, each := range script.Events {
		if !send(watch.Event{Type: watch.EventType(each.Type), Object: each.Item.pod()}) {
			return
		}
	}
	switch script.End {
	case "expired":
		status := apierrors.NewResourceExpired("too old").Status()
		send(watch.Event{Type: watch.Error, Object: &status})
		close(events)
	case "closed":
		close(events)
	}
}

type recorder struct {
	lock  sync.Mutex
	calls []any
	ended chan struct{}
}

func (given *recorder) note(call ...any) {
	given.lock.Lock()
	defer given.lock.Unlock()
	given.calls = append(given.calls, call)
}

func (given *recorder) OnAdd(obj any, isInInitialList bool) {
	given.note("add", shown(obj), isInInitialList)
	if obj.(*corev1.Pod).Name == last {
		close(given.ended)
	}
}

func (given *recorder) OnUpdate(before, after any) { given.note("update", shown(before), shown(after)) }

func (given *recorder) OnDelete(obj any) { given.note("delete", shown(obj)) }

func init() {
	answers("informer.history", func(given history) (any, error) {
		calls, store := follow(given)
		return map[string]any{"calls": calls, "store": store}, nil
	})
}

func follow(given history) ([]any, []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	informer := cache.NewSharedIndexInformer(&scripted{history: given}, &corev1.Pod{}, 0, cache.Indexers{})
	received := &recorder{ended: make(chan struct{})}
	if _, err := informer.AddEventHandler(received); err != nil {
		fatal(err)
	}
	go informer.RunWithContext(ctx)
	select {
	case <-received.ended:
	case <-ctx.Done():
		panic("the history does not end")
	}
	received.lock.Lock()
	defer received.lock.Unlock()
	return received.calls, keys(informer.GetStore().List())
}
