package main

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

func init() {
	answers("apply.extract", func(given struct {
		Kind        string
		Object      json.RawMessage
		Manager     string
		Subresource string
	}) (any, error) {
		switch given.Kind {
		case "Pod":
			return extracted(given.Object, func(obj *corev1.Pod) (any, error) {
				return coreapply.ExtractPodFrom(obj, given.Manager, given.Subresource)
			})
		case "ConfigMap":
			return extracted(given.Object, func(obj *corev1.ConfigMap) (any, error) {
				return coreapply.ExtractConfigMapFrom(obj, given.Manager, given.Subresource)
			})
		case "Deployment":
			return extracted(given.Object, func(obj *appsv1.Deployment) (any, error) {
				return appsapply.ExtractDeploymentFrom(obj, given.Manager, given.Subresource)
			})
		}
		return nil, errUnexpected
	})
}

func extracted[T any](text json.RawMessage, extract func(*T) (any, error)) (any, error) {
	var obj T
	if err := json.Unmarshal(text, &obj); err != nil {
		fatal(err)
	}
	return extract(&obj)
}
