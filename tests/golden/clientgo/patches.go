package main

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type patchCase struct {
	Kind      string          `json:"kind"`
	Original  json.RawMessage `json:"original"`
	Modified  json.RawMessage `json:"modified"`
	Current   json.RawMessage `json:"current"`
	Patch     json.RawMessage `json:"patch"`
	Overwrite bool            `json:"overwrite"`
}

func structOf(kind string) any {
	switch kind {
	case "Pod":
		return &corev1.Pod{}
	case "Service":
		return &corev1.Service{}
	case "ConfigMap":
		return &corev1.ConfigMap{}
	case "ServiceAccount":
		return &corev1.ServiceAccount{}
	case "Deployment":
		return &appsv1.Deployment{}
	case "Ingress":
		return &networkingv1.Ingress{}
	case "Node":
		return &corev1.Node{}
	case "ObjectMeta":
		return &metav1.ObjectMeta{}
	}
	panic("no struct of kind " + kind)
}

func document(text []byte, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

func init() {
	answers("strategic.apply", func(given patchCase) (any, error) {
		return document(strategicpatch.StrategicMergePatch(given.Original, given.Patch, structOf(given.Kind)))
	})
	// Patches are compared by their effect: a text may name what changes nothing.
	answers("strategic.between", func(given patchCase) (any, error) {
		patch, err := strategicpatch.CreateTwoWayMergePatch(given.Original, given.Modified, structOf(given.Kind))
		if err != nil {
			return nil, err
		}
		return document(strategicpatch.StrategicMergePatch(given.Original, patch, structOf(given.Kind)))
	})
	answers("strategic.threeWay", func(given patchCase) (any, error) {
		meta, err := strategicpatch.NewPatchMetaFromStruct(structOf(given.Kind))
		if err != nil {
			return nil, err
		}
		patch, err := strategicpatch.CreateThreeWayMergePatch(
			given.Original, given.Modified, given.Current, meta, given.Overwrite)
		if err != nil {
			return nil, err
		}
		return document(strategicpatch.StrategicMergePatch(given.Current, patch, structOf(given.Kind)))
	})
	answers("merge.apply", func(given patchCase) (any, error) {
		return document(jsonpatch.MergePatch(given.Original, given.Patch))
	})
	answers("merge.between", func(given patchCase) (any, error) {
		patch, err := jsonpatch.CreateMergePatch(given.Original, given.Modified)
		if err != nil {
			return nil, err
		}
		return document(jsonpatch.MergePatch(given.Original, patch))
	})
	answers("merge.threeWay", func(given patchCase) (any, error) {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(given.Original, given.Modified, given.Current)
		if err != nil {
			return nil, err
		}
		return document(jsonpatch.MergePatch(given.Current, patch))
	})
	answers("jsonPatch.apply", func(given patchCase) (any, error) {
		patch, err := jsonpatch.DecodePatch(given.Patch)
		if err != nil {
			return nil, err
		}
		return document(patch.Apply(given.Original))
	})
}
