package main

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// list reads all pods as typed objects, once.
func list(client kubernetes.Interface, objects int) {
	meter := begin()
	found, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	check(err)
	expect(len(found.Items), objects)
	meter.report()
	runtime.KeepAlive(found)
}

// rounds creates, gets, updates and deletes a config map, count times.
func rounds(client kubernetes.Interface, count int) {
	meter := begin()
	maps, ctx := client.CoreV1().ConfigMaps("default"), context.Background()
	for number := range count {
		name := fmt.Sprintf("client-go-%d", number)
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
	meter.report()
}
