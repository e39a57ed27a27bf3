// A kubelet for tests: it runs no containers, and answers the streams of any pod.
//
//	stand-in-kubelet -port N -cert FILE -key FILE -ca FILE
//
// The protocols are Kubernetes' own (k8s.io/cri-streaming); what "runs" is decided here:
// a handful of commands, never a program of this machine. It listens on loopback only, lets
// in only who has a certificate of the given authority, and ends when its input ends.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

const (
	idle     = 4 * time.Hour
	creation = 30 * time.Second
)

func main() {
	port := flag.Int("port", 0, "where to listen on 127.0.0.1")
	cert := flag.String("cert", "", "certificate to show")
	key := flag.String("key", "", "its key")
	ca := flag.String("ca", "", "who signs the certificates of callers")
	flag.Parse()

	server := &http.Server{Handler: routes(), TLSConfig: callersOf(*ca)}
	// The streams take over the connection, which HTTP/2 does not allow.
	server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	check(err)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	check(server.ServeTLS(listener, *cert, *key))
}

func callersOf(file string) *tls.Config {
	text, err := os.ReadFile(file)
	check(err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		check(errors.New("no certificate in " + file))
	}
	return &tls.Config{ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// routes has the paths that kube-apiserver asks a kubelet for.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", serveExec)
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", serveAttach)
	mux.HandleFunc("/portForward/{namespace}/{pod}", servePortForward)
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", serveLogs)
	return mux
}

func serveExec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, commands{}, r.PathValue("pod"), "", r.PathValue("container"),
		r.URL.Query()["command"], options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

func serveAttach(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeAttach(w, r, commands{}, r.PathValue("pod"), "", r.PathValue("container"),
		options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

func servePortForward(w http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, ports{}, r.PathValue("pod"), "", options, idle, creation,
		portforward.SupportedProtocols)
}

// ports connects to the same port of this machine: the pod's network is ours.
type ports struct{}

func (ports) PortForward(
	_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser,
) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := io.Copy(stream, connection)
		answered <- err
	}()
	go func() {
		_, _ = io.Copy(connection, stream)
		_ = connection.(*net.TCPConn).CloseWrite()
	}()
	return <-answered
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
