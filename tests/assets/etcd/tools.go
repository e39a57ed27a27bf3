//go:build tools

// Package etcd pins the server that `make assets` builds; nothing is compiled here.
package etcd

import _ "go.etcd.io/etcd/server/v3"
