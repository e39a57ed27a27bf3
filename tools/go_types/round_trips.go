package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

type stored interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// roundTrips prints each object of the standard input, one in a line, as kube-apiserver would
// answer with it: read from JSON, stored as protobuf, written as JSON.
func roundTrips(scheme *runtime.Scheme) {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		text, err := roundTrip(scheme, line)
		if err != nil {
			log.Fatalf("%s: %v", line, err)
		}
		fmt.Println(string(text))
	}
}

func roundTrip(scheme *runtime.Scheme, line []byte) ([]byte, error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, err
	}
	gvk := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	obj, err := scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(line, obj); err != nil {
		return nil, err
	}
	data, err := obj.(stored).Marshal()
	if err != nil {
		return nil, err
	}
	if obj, err = scheme.New(gvk); err != nil {
		return nil, err
	}
	if err := obj.(stored).Unmarshal(data); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return json.Marshal(obj)
}
