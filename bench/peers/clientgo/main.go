// Mirrors all pods with client-go's shared informer and says what it cost.
//
//	clientgo -kubeconfig FILE -objects N [-json] [-events N]
//
// It prints a line of JSON once N objects are there, and another one when it has been told
// of as many updates as asked for. It ends when its input does: whoever started it is gone then.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type cost struct {
	Wall   float64 `json:"wall"`
	CPU    float64 `json:"cpu"`
	Before int64   `json:"before"`
	Peak   int64   `json:"peak"`
	Steady int64   `json:"steady"`
	Count  int     `json:"count"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the server")
	objects := flag.Int("objects", 0, "pods to wait for")
	asJSON := flag.Bool("json", false, "JSON instead of protobuf")
	events := flag.Int("events", 0, "updates to wait for after that")
	flag.Parse()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.QPS, config.Burst = -1, 0
	if *asJSON {
		config.ContentType = "application/json"
		config.AcceptContentTypes = "application/json"
	}
	client, err := kubernetes.NewForConfig(config)
	check(err)

	before := status("VmRSS:")
	begun, used := time.Now(), cpu()
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	var updates atomic.Int64
	enough := make(chan struct{})
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, changed any) {
			if changed.(*corev1.Pod).Name != "" && updates.Add(1) == int64(*events) {
				close(enough)
			}
		},
	})
	check(err)
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for len(informer.GetStore().ListKeys()) < *objects {
		time.Sleep(10 * time.Millisecond)
	}
	report(begun, used, before, *objects)

	if *events > 0 {
		begun, used = time.Now(), cpu()
		<-enough
		report(begun, used, before, *events)
	}
	runtime.KeepAlive(informer)
}

func report(begun time.Time, used float64, before int64, count int) {
	wall, spent, peak := time.Since(begun).Seconds(), cpu()-used, status("VmHWM:")
	debug.FreeOSMemory()
	line, err := json.Marshal(cost{wall, spent, before, peak, status("VmRSS:"), count})
	check(err)
	fmt.Println(string(line))
}

func cpu() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func status(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, field) {
			kilobytes, err := strconv.ParseInt(strings.Fields(line)[1], 10, 64)
			check(err)
			return kilobytes * 1024
		}
	}
	return 0
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
