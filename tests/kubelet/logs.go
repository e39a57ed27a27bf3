package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	kept  = 10                     // lines that every container has written
	pause = 100 * time.Millisecond // between the lines that follow
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// serveLogs returns the same ten lines for every container; with follow it adds lines until the
// client disconnects. It supports tailLines, limitBytes, timestamps, previous and follow.
func serveLogs(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	first := 1
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil && tail < kept {
		first = kept - tail + 1
	}
	var out io.Writer = w
	if limit, err := strconv.ParseInt(query.Get("limitBytes"), 10, 64); err == nil {
		out = &limited{w, limit}
	}
	write := func(number int) bool {
		_, err := io.WriteString(out, text(r, number))
		return err == nil
	}
	w.Header().Set("Content-Type", "text/plain")
	for number := first; number <= kept; number++ {
		if !write(number) {
			return
		}
	}
	if query.Get("follow") == "true" {
		follow(r, write, func() { _ = http.NewResponseController(w).Flush() })
	}
}

func follow(r *http.Request, write func(int) bool, flush func()) {
	for number := kept + 1; write(number); number++ {
		flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(pause):
		}
	}
}

func text(r *http.Request, number int) string {
	query, which, stamp := r.URL.Query(), "line", ""
	if query.Get("previous") == "true" {
		which = "earlier line"
	}
	if query.Get("timestamps") == "true" {
		timestamp := start.Add(time.Duration(number) * time.Second)
		stamp = timestamp.Format(time.RFC3339Nano) + " "
	}
	container := fmt.Sprintf("%s/%s/%s", r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	return fmt.Sprintf("%s%s: %s %d\n", stamp, container, which, number)
}

// limited fails after it has written `left` bytes.
type limited struct {
	out  io.Writer
	left int64
}

func (l *limited) Write(data []byte) (int, error) {
	fits := data[:min(int64(len(data)), l.left)]
	l.left -= int64(len(fits))
	if n, err := l.out.Write(fits); err != nil || len(fits) == len(data) {
		return n, err
	}
	return len(fits), io.ErrShortWrite
}
