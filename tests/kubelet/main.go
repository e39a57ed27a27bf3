// A kubelet for tests: it runs no containers, and serves the streams of any pod.
//
//	stand-in-kubelet -port N -cert FILE -key FILE -ca FILE [-programs FOLDER]
//
// The protocols are those of Kubernetes (k8s.io/cri-streaming). A container can run a handful of
// built-in commands, and no program of this machine, unless -programs is given: then sh, cat, tar
// and vi are those of this machine, started in FOLDER with an empty environment. The kubelet
// listens on loopback only, requires a client certificate of the given CA, and exits at the end
// of its input.
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
	port := flag.Int("port", 0, "port on 127.0.0.1")
	cert := flag.String("cert", "", "server certificate")
	key := flag.String("key", "", "its key")
	ca := flag.String("ca", "", "CA of client certificates")
	folder := flag.String("programs", "", "run sh, cat, tar and vi of this machine in this folder")
	flag.Parse()

	container := commands{}
	if *folder != "" {
		checkFolder(*folder)
		container.programs = findPrograms(*folder)
	}
	server := &http.Server{Handler: translating(routes(container)), TLSConfig: clientTLS(*ca)}
	// The streams take over the connection, which HTTP/2 does not allow.
	server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	check(err)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		if container.programs != nil {
			container.programs.kill()
		}
		os.Exit(0)
	}()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	check(server.ServeTLS(listener, *cert, *key))
}

func clientTLS(file string) *tls.Config {
	text, err := os.ReadFile(file)
	check(err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		check(errors.New("no certificate in " + file))
	}
	return &tls.Config{ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// routes are the paths that kube-apiserver requests from a kubelet.
func routes(container commands) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", container.serveExec)
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", container.serveAttach)
	mux.HandleFunc("/portForward/{namespace}/{pod}", servePortForward)
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", serveLogs)
	return mux
}

func (c commands) serveExec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, c, r.PathValue("pod"), "", r.PathValue("container"),
		r.URL.Query()["command"], options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

func (c commands) serveAttach(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeAttach(w, r, c, r.PathValue("pod"), "", r.PathValue("container"),
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

// ports connects to the same port of this machine, as if the pod used the host's network.
type ports struct{}

func (ports) PortForward(
	_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser,
) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	finished := make(chan error, 1)
	go func() {
		_, err := io.Copy(stream, connection)
		finished <- err
	}()
	go func() {
		_, _ = io.Copy(connection, stream)
		_ = connection.(*net.TCPConn).CloseWrite()
	}()
	return <-finished
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
