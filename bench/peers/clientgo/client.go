package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// list reads all pods as typed objects, once.
func list(client kubernetes.Interface, objects int) {
	var found *corev1.PodList
	measure(func() {
		var err error
		found, err = client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
		check(err)
		expect(len(found.Items), objects)
	})
	runtime.KeepAlive(found)
}

// rounds creates, gets, updates and deletes a config map, count times.
func rounds(client kubernetes.Interface, count int) {
	measure(func() {
		for number := range count {
			round(client, fmt.Sprintf("client-go-%d", number))
		}
	})
}

func round(client kubernetes.Interface, name string) {
	maps, ctx := client.CoreV1().ConfigMaps("default"), context.Background()
	body := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "1"},
	}
	_, err := maps.Create(ctx, body, metav1.CreateOptions{})
	check(err)
	found, err := maps.Get(ctx, name, metav1.GetOptions{})
	check(err)
	found.Data["a"] = "2"
	_, err = maps.Update(ctx, found, metav1.UpdateOptions{})
	check(err)
	check(maps.Delete(ctx, name, metav1.DeleteOptions{}))
}

// holdWatches opens count watches that receive nothing, after one that is not counted.
func holdWatches(client kubernetes.Interface, count int) {
	ctx := context.Background()
	found, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	check(err)
	open := func() {
		_, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{
			ResourceVersion: found.ResourceVersion,
		})
		check(err)
	}
	open()
	time.Sleep(settled)
	debug.FreeOSMemory()
	meter := begin()
	for range count {
		open()
	}
	time.Sleep(settled)
	meter.report()
	<-turns // until the input ends
}

// settled is enough for what opening a connection leaves to be done.
const settled = 500 * time.Millisecond
