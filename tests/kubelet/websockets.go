package main

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/util/proxy"
	translator "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// translating handles WebSockets that kube-apiserver passes on to a node which declares the
// feature ExtendWebSocketsToKubelet, with the code of Kubernetes: v5 of exec and attach is
// translated to SPDY, and SPDY of a port-forward is taken out of its messages. A kubelet sends
// them on to the container runtime; here that is `runtime`, over connections in memory.
func translating(runtime http.Handler) http.Handler {
	memory := memoryListener{make(chan net.Conn)}
	go func() { check((&http.Server{Handler: runtime}).Serve(memory)) }()
	transport := &http.Transport{DialContext: memory.dial}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		location := *r.URL
		location.Scheme, location.Host = "http", "runtime"
		switch {
		case wsstream.IsWebSocketRequestWithStreamCloseProtocol(r):
			serveTranslated(w, r, &location, transport)
		case wsstream.IsWebSocketRequestWithTunnelingProtocol(r):
			upgrade := proxy.NewUpgradeAwareHandler(&location, transport, false, true, responder{})
			translator.NewTunnelingHandler(upgrade).ServeHTTP(w, r)
		default:
			runtime.ServeHTTP(w, r)
		}
	})
}

func serveTranslated(
	w http.ResponseWriter, r *http.Request, location *url.URL, transport http.RoundTripper,
) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	streams := translator.Options{
		Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr, Tty: options.TTY,
	}
	translator.NewStreamTranslatorHandler(location, transport, 0, streams).ServeHTTP(w, r)
}

type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// memoryListener accepts the connections that dial makes; no other process can reach it.
type memoryListener struct{ accepted chan net.Conn }

func (l memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.accepted <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l memoryListener) Accept() (net.Conn, error) {
	return <-l.accepted, nil
}

func (l memoryListener) Close() error   { return nil }
func (l memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
