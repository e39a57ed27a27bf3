package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sort"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// documents is a server of fixed answers by path; whatever has none is not found.
type documents map[string]json.RawMessage

func (served documents) RoundTrip(request *http.Request) (*http.Response, error) {
	body, found := served[request.URL.Path]
	code := http.StatusOK
	if !found {
		code, body = http.StatusNotFound, json.RawMessage(`{}`)
	}
	return &http.Response{
		StatusCode: code,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
		Request:    request,
	}, nil
}

func (served documents) client() *discovery.DiscoveryClient {
	made := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: "http://test", Transport: served})
	made.UseLegacyDiscovery = true
	return made
}

// servers are those that the cases before have described.
var servers = map[string]documents{}

type mappingCase struct {
	Server   string   `json:"server"`
	Group    string   `json:"group"`
	Version  string   `json:"version"`
	Resource string   `json:"resource"`
	Kind     string   `json:"kind"`
	Versions []string `json:"versions"`
	Category string   `json:"category"`
}

func (given mappingCase) mapper() (meta.RESTMapper, error) {
	found, err := restmapper.GetAPIGroupResources(servers[given.Server].client())
	if err != nil {
		return nil, err
	}
	return restmapper.NewDiscoveryRESTMapper(found), nil
}

func (given mappingCase) wanted() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: given.Group, Version: given.Version, Resource: given.Resource}
}

func mapped(mapping *meta.RESTMapping, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	resource, kind := mapping.Resource, mapping.GroupVersionKind
	return []any{
		[]string{resource.Group, resource.Version, resource.Resource},
		[]string{kind.Group, kind.Version, kind.Kind},
		mapping.Scope.Name() == meta.RESTScopeNameNamespace,
	}, nil
}

func resourceText(found schema.GroupVersionResource) []string {
	return []string{found.Group, found.Version, found.Resource}
}

func kindText(found schema.GroupVersionKind) []string {
	return []string{found.Group, found.Version, found.Kind}
}

// asks registers an operation on the mapper of a server.
func asks(name string, ask func(meta.RESTMapper, mappingCase) (any, error)) {
	answers(name, func(given mappingCase) (any, error) {
		mapper, err := given.mapper()
		if err != nil {
			return nil, err
		}
		return ask(mapper, given)
	})
}

func init() {
	answers("server.describe", func(given struct {
		Server    string
		Documents documents
	}) (any, error) {
		servers[given.Server] = given.Documents
		return nil, nil
	})
	answers("mapper.guess", func(kind string) (any, error) {
		plural, singular := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
		return []string{plural.Resource, singular.Resource}, nil
	})
	asks("mapper.resourceFor", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		found, err := mapper.ResourceFor(given.wanted())
		if err != nil {
			return nil, err
		}
		return resourceText(found), nil
	})
	asks("mapper.resourcesFor", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		found, err := mapper.ResourcesFor(given.wanted())
		if err != nil {
			return nil, err
		}
		texts := [][]string{}
		for _, each := range found {
			texts = append(texts, resourceText(each))
		}
		return texts, nil
	})
	asks("mapper.kindFor", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		found, err := mapper.KindFor(given.wanted())
		if err != nil {
			return nil, err
		}
		return kindText(found), nil
	})
	asks("mapper.kindsFor", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		found, err := mapper.KindsFor(given.wanted())
		if err != nil {
			return nil, err
		}
		texts := [][]string{}
		for _, each := range found {
			texts = append(texts, kindText(each))
		}
		return texts, nil
	})
	asks("mapper.mapping", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		return mapped(mapper.RESTMapping(schema.GroupKind{Group: given.Group, Kind: given.Kind}, given.Versions...))
	})
	asks("mapper.singular", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		return mapper.ResourceSingularizer(given.Resource)
	})
	asks("mapper.expand", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		warnings := 0
		expander := restmapper.NewShortcutExpander(mapper, servers[given.Server].client(), func(string) { warnings++ })
		found, err := expander.ResourceFor(given.wanted())
		if err != nil {
			return nil, err
		}
		return map[string]any{"resource": resourceText(found), "warnings": warnings}, nil
	})
	asks("mapper.category", func(mapper meta.RESTMapper, given mappingCase) (any, error) {
		found, _ := restmapper.NewDiscoveryCategoryExpander(servers[given.Server].client()).Expand(given.Category)
		texts := [][]string{}
		for _, each := range found {
			texts = append(texts, []string{each.Group, each.Resource})
		}
		return texts, nil
	})
	answers("discovery.preferred", func(given mappingCase) (any, error) {
		found, err := discovery.ServerPreferredResources(servers[given.Server].client())
		if err != nil {
			return nil, err
		}
		return listed(found), nil
	})
	answers("discovery.preferredNamespaced", func(given mappingCase) (any, error) {
		found, err := discovery.ServerPreferredNamespacedResources(servers[given.Server].client())
		if err != nil {
			return nil, err
		}
		return listed(found), nil
	})
	answers("discovery.aggregated", func(given apidiscovery.APIGroupDiscoveryList) (any, error) {
		groups, resources, failed := discovery.SplitGroupsAndResources(given)
		texts := []any{}
		for _, group := range groups.Groups {
			texts = append(texts, []string{group.Name, group.PreferredVersion.Version})
		}
		rows := map[string]any{}
		for version, list := range resources {
			rows[version.String()] = kindsOf(version, list.APIResources)
		}
		stale := []string{}
		for version := range failed {
			stale = append(stale, version.String())
		}
		return map[string]any{"groups": texts, "resources": rows, "stale": sorted(stale)}, nil
	})
	answers("discovery.supports", func(given mappingCase) (any, error) {
		client := servers[given.Server].client()
		return discovery.ServerSupportsVersion(client, schema.GroupVersion{Group: given.Group, Version: given.Version}) == nil, nil
	})
	answers("discovery.serves", func(given mappingCase) (any, error) {
		return discovery.IsResourceEnabled(servers[given.Server].client(), given.wanted())
	})
}

// kindsOf leaves out the group version of a kind that is the one of its list.
func kindsOf(version schema.GroupVersion, resources []metav1.APIResource) [][]string {
	texts := [][]string{}
	for _, each := range resources {
		of := schema.GroupVersion{Group: each.Group, Version: each.Version}
		if of == version {
			of = schema.GroupVersion{}
		}
		texts = append(texts, []string{each.Name, of.Group, of.Version, each.Kind, each.SingularName})
	}
	return texts
}

// listed sorts: the lists come in the order of a map.
func listed(found []*metav1.APIResourceList) [][]string {
	texts := [][]string{}
	for _, each := range found {
		for _, resource := range each.APIResources {
			texts = append(texts, []string{each.GroupVersion, resource.Name})
		}
	}
	sort.Slice(texts, func(i, j int) bool {
		return texts[i][0]+" "+texts[i][1] < texts[j][0]+" "+texts[j][1]
	})
	return texts
}
