package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const maps = "/api/v1/namespaces/default/configmaps"

// fanOut creates config maps with several workers at once while watches are open, and waits until
// every watch has received all of them. It decodes nothing: only the servers differ in cost.
func fanOut(watches, workers, count, size int) {
	client, host := rawClient(true)
	since := latest(client, host)
	var opened, received sync.WaitGroup
	opened.Add(watches)
	received.Add(watches)
	for range watches {
		go watch(client, host, since, count, &opened, &received)
	}
	opened.Wait()
	meter := begin()
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for number := worker; number < count; number += workers {
				create(client, host, fmt.Sprintf("%s-%d", since, number), size)
			}
		})
	}
	group.Wait()
	received.Wait()
	meter.report()
}

// listRaw reads all pods count times and decodes nothing.
func listRaw(count int, compressed bool) {
	client, host := rawClient(compressed)
	meter := begin()
	for range count {
		response, err := client.Get(host + "/api/v1/pods")
		check(err)
		_, err = io.Copy(io.Discard, response.Body)
		check(err)
		check(response.Body.Close())
		if response.StatusCode != 200 {
			check(fmt.Errorf("list: %s", response.Status))
		}
	}
	meter.report()
}

// rawClient has one connection for each request that is open at once, to any server.
func rawClient(compressed bool) (*http.Client, string) {
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.NextProtos = []string{"http/1.1"}
	config.DisableCompression = !compressed
	client, err := rest.HTTPClientFor(config)
	check(err)
	return client, config.Host
}

// latest is the version of the collection, at which the watches start.
func latest(client *http.Client, host string) string {
	response, err := client.Get(host + maps + "?limit=1")
	check(err)
	defer response.Body.Close()
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	check(json.NewDecoder(response.Body).Decode(&list))
	return list.Metadata.ResourceVersion
}

func watch(client *http.Client, host, since string, count int, opened, received *sync.WaitGroup) {
	request, err := http.NewRequestWithContext(
		context.Background(), "GET", host+maps+"?watch=1&resourceVersion="+since, nil,
	)
	check(err)
	response, err := client.Do(request)
	check(err)
	if response.StatusCode != 200 {
		check(fmt.Errorf("watch: %s", response.Status))
	}
	opened.Done()
	defer received.Done()
	buffer, seen := make([]byte, 1<<16), 0
	for seen < count {
		length, err := response.Body.Read(buffer)
		seen += bytes.Count(buffer[:length], []byte{'\n'})
		if seen < count && err != nil {
			check(fmt.Errorf("a watch of %s ended after %d of %d events: %w", host, seen, count, err))
		}
	}
}

func create(client *http.Client, host, name string, size int) {
	body := fmt.Sprintf(
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"a":%q}}`,
		name, strings.Repeat("x", size),
	)
	response, err := client.Post(host+maps, "application/json", strings.NewReader(body))
	if err != nil {
		check(fmt.Errorf("create: %w", err))
	}
	_, err = io.Copy(io.Discard, response.Body)
	check(err)
	check(response.Body.Close())
	if response.StatusCode != 201 {
		check(fmt.Errorf("create: %s", response.Status))
	}
}
