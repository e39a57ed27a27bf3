// What kubeloop does, done with client-go, and what it cost.
//
//	clientgo -kubeconfig FILE [-json] [-objects N] [-namespace NAME] [-work informer] [-events N] [-turns]
//	clientgo -kubeconfig FILE [-json] -objects N -work list [-turns]
//	clientgo -kubeconfig FILE -count N -work round [-turns]
//	clientgo -kubeconfig FILE -objects N -count N -work index|selector
//	clientgo -kubeconfig FILE -objects N [-namespace NAME] -work reconcile
//	clientgo -kubeconfig FILE -count N -work watches
//	clientgo -kubeconfig FILE -count N -workers N -watches N [-size N] -work fanout
//	clientgo -kubeconfig FILE -count N [-plain] -work raw-list
//	clientgo -count N -workers N -work queue
//
// It prints lines of JSON, a cost once the work is done. With -turns it does the work once for each
// line of its input (an informer: counts the events again and again), with a cost each. It ends when
// its input does: then the process that started it is gone.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	kubeconfig = flag.String("kubeconfig", "", "how to reach the server")
	work       = flag.String("work", "informer", "what to do")
	objects    = flag.Int("objects", 0, "pods that the server holds")
	events     = flag.Int("events", 0, "updates to wait for once all pods are there")
	count      = flag.Int("count", 0, "how often, or how many keys")
	workers    = flag.Int("workers", 1, "workers of the queue, or writers")
	plain      = flag.Bool("plain", false, "do not accept compressed responses")
	watches    = flag.Int("watches", 1, "watches that are open meanwhile")
	size       = flag.Int("size", 500, "bytes of data in an object")
	asJSON     = flag.Bool("json", false, "JSON instead of protobuf")
	protobuf   = flag.Bool("protobuf", false, "protobuf only, without JSON as the fallback")
	namespace  = flag.String("namespace", "", "the pods of one namespace only")
	inTurns    = flag.Bool("turns", false, "do the work for each line of the input")

	turns = make(chan struct{}) // one for each line of the input
)

func main() {
	flag.Parse()
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			turns <- struct{}{}
		}
		os.Exit(1)
	}()
	switch *work {
	case "informer":
		runInformer(connect(), *objects, *events)
	case "list":
		list(connect(), *objects)
	case "round":
		rounds(connect(), *count)
	case "index":
		lookUp(connect(), *objects, *count)
	case "selector":
		selectPods(connect(), *objects, *count)
	case "reconcile":
		reconcile(connect(), *objects)
	case "watches":
		holdWatches(connect(), *count)
	case "fanout":
		fanOut(*watches, *workers, *count, *size)
	case "raw-list":
		listRaw(*count, !*plain)
	case "queue":
		throughQueue(*count, *workers)
	default:
		check(fmt.Errorf("no such work: %s", *work))
	}
}

func connect() kubernetes.Interface {
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.QPS, config.Burst = -1, 0
	if *asJSON {
		config.ContentConfig = rest.ContentConfig{
			ContentType: "application/json", AcceptContentTypes: "application/json",
		}
	}
	if *protobuf {
		config.ContentConfig = rest.ContentConfig{
			ContentType:        "application/vnd.kubernetes.protobuf",
			AcceptContentTypes: "application/vnd.kubernetes.protobuf",
		}
	}
	client, err := kubernetes.NewForConfig(config)
	check(err)
	return client
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
