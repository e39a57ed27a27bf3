package main

import (
	"bufio"
	"encoding/base64"
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
// answer with it: read from JSON, stored as protobuf, written as JSON. The protobuf follows after
// a tab, in base64.
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
		text, data, err := roundTrip(scheme, line)
		if err != nil {
			log.Fatalf("%s: %v", line, err)
		}
		fmt.Printf("%s\t%s\n", text, base64.StdEncoding.EncodeToString(data))
	}
}

func roundTrip(scheme *runtime.Scheme, line []byte) (text, data []byte, err error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, nil, err
	}
	gvk := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	obj, err := scheme.New(gvk)
	if err != nil {
		return nil, nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(line, obj); err != nil {
		return nil, nil, err
	}
	if data, err = obj.(stored).Marshal(); err != nil {
		return nil, nil, err
	}
	if obj, err = scheme.New(gvk); err != nil {
		return nil, nil, err
	}
	if err := obj.(stored).Unmarshal(data); err != nil {
		return nil, nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	text, err = json.Marshal(obj)
	return text, data, err
}
