// Prints the facts of the Go types of the Kubernetes API as JSON, for every type that a kind of
// the built-in group versions (groups.go) reaches. `make go-types` runs it.
//
//	go run . > ../../packages/kubeloop-testing/src/kubeloop_testing/server/values/go_types.json
//	go run . round-trips < objects
//
// `kinds` has the Go type of each kind, by apiVersion and kind. `types` has the fields of each Go
// struct, in Go's order, as "JSON-name type options protobuf":
//
//   - type: a Go type, with packages as "core/v1"; named scalars are written as what they are.
//     The types with their own JSON are time, microtime, duration, quantity, intstr, raw, fields,
//     json, schemaorbool, schemaorarray and schemaorstrings.
//   - options: e for omitempty, z for omitzero, i for a struct whose fields are inlined, and -
//     for none of them.
//   - protobuf: the number of the field, if its tag has the wire type and the cardinality (opt,
//     rep) that the Go type implies; else what the tag has of wire type, number, cardinality and
//     packed ("bytes,1,opt"); - for a field without a tag. Some tags are not what is written: the
//     code of the Go packages follows the .proto files.
//
// A type that is no struct (a list that is a message of its own in protobuf) is written as text.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Types that read and write JSON themselves.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():                                  "time",
	reflect.TypeFor[metav1.MicroTime]():                             "microtime",
	reflect.TypeFor[metav1.Duration]():                              "duration",
	reflect.TypeFor[resource.Quantity]():                            "quantity",
	reflect.TypeFor[intstr.IntOrString]():                           "intstr",
	reflect.TypeFor[runtime.RawExtension]():                         "raw",
	reflect.TypeFor[metav1.FieldsV1]():                              "fields",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "json",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "schemaorbool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "schemaorarray",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "schemaorstrings",
}

// Types of apimachinery that every group version registers, and that no object contains.
var shared = map[string]bool{
	"CreateOptions": true, "DeleteOptions": true, "GetOptions": true, "ListOptions": true,
	"PatchOptions": true, "UpdateOptions": true, "WatchEvent": true, "InternalEvent": true,
}

var metaKinds = []any{
	metav1.Status{}, metav1.DeleteOptions{}, metav1.CreateOptions{}, metav1.UpdateOptions{},
	metav1.PatchOptions{}, metav1.ListOptions{}, metav1.GetOptions{}, metav1.WatchEvent{},
	metav1.List{}, metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{},
	metav1.APIVersions{}, metav1.APIGroup{}, metav1.APIGroupList{}, metav1.APIResourceList{},
}

type table struct {
	Source  string            `json:"source"`
	Version string            `json:"version"`
	Kinds   map[string]string `json:"kinds"`
	Types   map[string]any    `json:"types"`
}

var (
	types     = map[string]any{}
	marshaler = reflect.TypeFor[json.Marshaler]()
	message   = reflect.TypeFor[interface{ Marshal() ([]byte, error) }]()
)

func main() {
	log.SetFlags(0)
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			log.Fatal(err)
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "round-trips" {
		roundTrips(scheme)
		return
	}
	kinds := map[string]string{}
	for gvk, t := range scheme.AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal && !shared[gvk.Kind] {
			kinds[gvk.GroupVersion().String()+" "+gvk.Kind] = name(t)
		}
	}
	for _, each := range metaKinds {
		t := reflect.TypeOf(each)
		kinds["meta/v1 "+t.Name()] = name(t)
	}
	version := versionOf("k8s.io/api")
	write(table{
		Source:  "k8s.io/api, k8s.io/apimachinery, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator " + version + ", by tools/go_types",
		Version: version,
		Kinds:   kinds,
		Types:   types,
	})
}

func versionOf(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("the program has no build information")
	}
	for _, each := range info.Deps {
		if each.Path == module {
			return each.Version
		}
	}
	log.Fatalf("%s is no dependency", module)
	return ""
}

// write prints one type in each line, so that a new version can be compared with the old one.
func write(t table) {
	fmt.Printf("{\"source\":%q,\n\"version\":%q,\n\"kinds\":{\n", t.Source, t.Version)
	lines(t.Kinds)
	fmt.Print("},\n\"types\":{\n")
	lines(t.Types)
	fmt.Println("}}")
}

func lines[V any](values map[string]V) {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for i, key := range keys {
		text, err := json.Marshal(values[key])
		if err != nil {
			log.Fatal(err)
		}
		end := ",\n"
		if i == len(keys)-1 {
			end = "\n"
		}
		if _, err := fmt.Fprintf(os.Stdout, "%q:%s%s", key, text, end); err != nil {
			log.Fatal(err)
		}
	}
}

// name returns the text of a type, and adds the structs in it to the table.
func name(t reflect.Type) string {
	if own, ok := special[t]; ok {
		return own
	}
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		if t.Kind() != reflect.Pointer {
			log.Fatalf("%s has its own JSON, and is not known here", t)
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + name(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return alias(t, "[]"+name(t.Elem()))
	case reflect.Map:
		return alias(t, "map["+name(t.Key())+"]"+name(t.Elem()))
	case reflect.Struct:
		return structName(t)
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	case reflect.Interface:
		return "any"
	}
	log.Fatalf("%s: a %s is not known here", t, t.Kind())
	return ""
}

// alias keeps the name of a list or map that is a message of its own in protobuf.
func alias(t reflect.Type, text string) string {
	if t.Name() == "" || !reflect.PointerTo(t).Implements(message) {
		return text
	}
	types[typeName(t)] = text
	return typeName(t)
}

func structName(t reflect.Type) string {
	own := typeName(t)
	if _, seen := types[own]; seen {
		return own
	}
	types[own] = []string{} // types contain themselves
	fields := []string{}
	for i := range t.NumField() {
		if text := field(t.Field(i)); text != "" {
			fields = append(fields, text)
		}
	}
	types[own] = fields
	return own
}

func typeName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/") + "." + t.Name()
}

func field(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("json"), ",")
	if parts[0] == "-" || (!f.IsExported() && !f.Anonymous) {
		return ""
	}
	options := ""
	for _, part := range parts[1:] {
		switch part {
		case "omitempty":
			options += "e"
		case "omitzero":
			options += "z"
		}
	}
	label := parts[0]
	if label == "" && f.Anonymous {
		options += "i"
	} else if label == "" {
		label = f.Name
	}
	if options == "" {
		options = "-"
	}
	if label == "" {
		label = "-"
	}
	return strings.Join([]string{label, name(f.Type), options, protobuf(f)}, " ")
}

func protobuf(f reflect.StructField) string {
	tag := f.Tag.Get("protobuf")
	if tag == "" || tag == "-" {
		return "-"
	}
	parts := strings.Split(tag, ",")
	cardinality := "opt"
	t := f.Type
	if t.Kind() == reflect.Map || (t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !reflect.PointerTo(t).Implements(message)) {
		cardinality = "rep"
	}
	actual := parts[:2]
	for _, part := range parts[2:] {
		switch part {
		case "opt", "rep", "req", "packed":
			actual = append(actual, part)
		}
	}
	text := strings.Join(actual, ",")
	if text == strings.Join([]string{wire(t), parts[1], cardinality}, ",") {
		return parts[1]
	}
	return text
}

// wire is the wire type that gogo's generator chooses for a Go type.
func wire(t reflect.Type) string {
	if _, ok := special[t]; ok {
		return "bytes"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wire(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return wire(t.Elem())
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64:
		return "varint"
	case reflect.Float64:
		return "fixed64"
	}
	return "bytes"
}
