package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	testingclock "k8s.io/utils/clock/testing"
)

// item is an object as the histories write it.
type item struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`
	Version   string `json:"version"`
	Node      string `json:"node"`
}

func (given item) pod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: given.Name, Namespace: given.Namespace, UID: types.UID(given.UID), ResourceVersion: given.Version,
		},
		Spec: corev1.PodSpec{NodeName: given.Node},
	}
}

func shown(obj any) []any {
	if lost, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		pod, known := lost.Obj.(*corev1.Pod)
		if !known {
			return []any{lost.Key, nil, nil, false}
		}
		return []any{lost.Key, string(pod.UID), pod.ResourceVersion, false}
	}
	pod := obj.(*corev1.Pod)
	key, _ := cache.MetaNamespaceKeyFunc(pod)
	return []any{key, string(pod.UID), pod.ResourceVersion, true}
}

type cacheStep struct {
	Do     string `json:"do"`
	Item   item   `json:"item"`
	Items  []item `json:"items"`
	Value  string `json:"value"`
	By     float64
	Expect string `json:"expect"`
}

func objects(given []item) []any {
	made := []any{}
	for _, each := range given {
		made = append(made, each.pod())
	}
	return made
}

func keys(found []any) []string {
	listed := []string{}
	for _, each := range found {
		pod := each.(*corev1.Pod)
		key, _ := cache.MetaNamespaceKeyFunc(pod)
		listed = append(listed, key+"@"+pod.ResourceVersion)
	}
	return sorted(listed)
}

var nodeIndex = cache.Indexers{
	cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
	"node": func(obj any) ([]string, error) {
		node := obj.(*corev1.Pod).Spec.NodeName
		if node == "" {
			return nil, nil
		}
		return []string{node}, nil
	},
}

func storeStep(store cache.Store, step cacheStep) (any, bool) {
	switch step.Do {
	case "add":
		return nil, store.Add(step.Item.pod()) == nil
	case "update":
		return nil, store.Update(step.Item.pod()) == nil
	case "delete":
		return nil, store.Delete(step.Item.pod()) == nil
	case "replace":
		return nil, store.Replace(objects(step.Items), step.Value) == nil
	case "list":
		return keys(store.List()), true
	case "keys":
		return sorted(store.ListKeys()), true
	case "get":
		found, exists, err := store.GetByKey(step.Value)
		if err != nil || !exists {
			return nil, true
		}
		return keys([]any{found})[0], true
	}
	panic("no step " + step.Do)
}

func init() {
	answers("indexer.steps", func(steps []cacheStep) (any, error) {
		indexer, found := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nodeIndex), []any{}
		for _, step := range steps {
			switch step.Do {
			case "byIndex":
				objs, err := indexer.ByIndex(step.Expect, step.Value)
				if err != nil {
					found = append(found, "refused")
				} else {
					found = append(found, keys(objs))
				}
			case "indexKeys":
				named, err := indexer.IndexKeys(step.Expect, step.Value)
				if err != nil {
					found = append(found, "refused")
				} else {
					found = append(found, sorted(named))
				}
			case "indexValues":
				found = append(found, sorted(texts(indexer.ListIndexFuncValues(step.Expect))))
			default:
				value, accepted := storeStep(indexer, step)
				if !accepted {
					value = "refused"
				}
				found = append(found, value)
			}
		}
		return found, nil
	})
	answers("expiring.steps", func(given struct {
		TTL   float64     `json:"ttl"`
		Steps []cacheStep `json:"steps"`
	}) (any, error) {
		clock := testingclock.NewFakeClock(time.Unix(1_000_000, 0))
		store := cache.NewFakeExpirationStore(cache.MetaNamespaceKeyFunc, nil,
			&cache.TTLPolicy{TTL: ms(given.TTL), Clock: clock}, clock)
		found := []any{}
		for _, step := range given.Steps {
			if step.Do == "advance" {
				clock.Step(ms(step.By))
				found = append(found, nil)
				continue
			}
			value, _ := storeStep(store, step)
			found = append(found, value)
		}
		return found, nil
	})
	answers("mutations.steps", func(given struct {
		Adds  bool        `json:"adds"`
		Steps []cacheStep `json:"steps"`
	}) (any, error) {
		store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nodeIndex)
		writes := cache.NewIntegerResourceVersionMutationCache(klog.Background(), store, store, time.Hour, given.Adds)
		found := []any{}
		for _, step := range given.Steps {
			switch step.Do {
			case "mutation":
				writes.Mutation(step.Item.pod())
				found = append(found, nil)
			case "byIndex":
				objs, err := writes.ByIndex(step.Expect, step.Value)
				if err != nil {
					return nil, err
				}
				found = append(found, keys(objs))
			case "get":
				obj, exists, err := writes.GetByKey(step.Value)
				if err != nil {
					return nil, err
				}
				if !exists {
					found = append(found, nil)
				} else {
					found = append(found, keys([]any{obj})[0])
				}
			default:
				value, _ := storeStep(store, step)
				found = append(found, value)
			}
		}
		return found, nil
	})
	answers("deltaFIFO.steps", func(steps []cacheStep) (any, error) { return queue(steps, deltaFIFO) })
	answers("realFIFO.steps", func(steps []cacheStep) (any, error) { return queue(steps, realFIFO) })
}

func deltaFIFO(known cache.KeyListerGetter) cache.Queue {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects: known, EmitDeltaTypeReplaced: true,
	})
}

func realFIFO(known cache.KeyListerGetter) cache.Queue {
	return cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil)
}

// queue runs steps on a queue whose popped deltas are applied to the store that it compares with.
func queue(steps []cacheStep, make func(cache.KeyListerGetter) cache.Queue) (any, error) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	fifo, found := make(ordered{store}), []any{}
	// A closed queue still takes and gives, and an empty one does not wait.
	fifo.Close()
	pop := func() []any {
		popped := []any{}
		fifo.Pop(func(obj any, isInInitialList bool) error {
			for _, delta := range obj.(cache.Deltas) {
				popped = append(popped, []any{string(delta.Type), shown(delta.Object), isInInitialList})
				apply(store, delta)
			}
			return nil
		})
		return popped
	}
	for _, step := range steps {
		switch step.Do {
		case "add":
			fifo.Add(step.Item.pod())
		case "update":
			fifo.Update(step.Item.pod())
		case "delete":
			fifo.Delete(step.Item.pod())
		case "replace":
			fifo.Replace(objects(step.Items), step.Value)
		case "resync":
			fifo.Resync()
		case "pop":
			found = append(found, pop())
			continue
		case "synced":
			found = append(found, fifo.HasSynced())
			continue
		default:
			return nil, errUnexpected
		}
		found = append(found, nil)
	}
	rest := []any{}
	for {
		popped := pop()
		if len(popped) == 0 {
			break
		}
		rest = append(rest, popped)
	}
	return map[string]any{"steps": found, "rest": rest, "synced": fifo.HasSynced()}, nil
}

func apply(store cache.Store, delta cache.Delta) {
	if delta.Type == cache.Deleted {
		if lost, missed := delta.Object.(cache.DeletedFinalStateUnknown); missed {
			if obj, exists, _ := store.GetByKey(lost.Key); exists {
				store.Delete(obj)
			}
			return
		}
		store.Delete(delta.Object)
		return
	}
	store.Update(delta.Object)
}

// ordered lists its keys in order: a store walks a map, and the order of deletes would be random.
type ordered struct{ cache.Store }

func (given ordered) ListKeys() []string { return sorted(given.Store.ListKeys()) }
