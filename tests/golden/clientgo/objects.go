package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/transport"
	testingclock "k8s.io/utils/clock/testing"
)

func init() {
	references()
	conditions()
	correlation()
	elections()
	headers()
	answers("yaml.decode", func(text string) (any, error) {
		decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
		found := []any{}
		for {
			var document any
			err := decoder.Decode(&document)
			if err == io.EOF {
				return found, nil
			}
			if err != nil {
				return nil, err
			}
			if document != nil {
				found = append(found, document)
			}
		}
	})
}

func references() {
	answers("reference.of", func(given json.RawMessage) (any, error) {
		obj := &unstructured.Unstructured{}
		if err := json.Unmarshal(given, &obj.Object); err != nil {
			fatal(err)
		}
		found, err := reference.GetReference(scheme.Scheme, obj)
		if err != nil {
			return nil, err
		}
		return found, nil
	})
	answers("owner.reference", func(given struct {
		Owner                metav1.ObjectMeta
		Group, Version, Kind string
	}) (any, error) {
		kind := schema.GroupVersionKind{Group: given.Group, Version: given.Version, Kind: given.Kind}
		return metav1.NewControllerRef(&given.Owner, kind), nil
	})
	answers("owner.controller", func(given metav1.ObjectMeta) (any, error) {
		return metav1.GetControllerOf(&given), nil
	})
	answers("owner.controlledBy", func(given struct {
		Object metav1.ObjectMeta
		UID    string
	}) (any, error) {
		return metav1.IsControlledBy(&given.Object, &metav1.ObjectMeta{UID: types.UID(given.UID)}), nil
	})
}

func conditions() {
	answers("conditions.set", func(given struct {
		Conditions []metav1.Condition
		New        metav1.Condition
	}) (any, error) {
		changed := meta.SetStatusCondition(&given.Conditions, given.New)
		return map[string]any{"changed": changed, "conditions": given.Conditions}, nil
	})
	answers("conditions.remove", func(given struct {
		Conditions []metav1.Condition
		Type       string
	}) (any, error) {
		removed := meta.RemoveStatusCondition(&given.Conditions, given.Type)
		if given.Conditions == nil {
			given.Conditions = []metav1.Condition{}
		}
		return map[string]any{"removed": removed, "conditions": given.Conditions}, nil
	})
	answers("conditions.is", func(given struct {
		Conditions []metav1.Condition
		Type       string
	}) (any, error) {
		return []bool{
			meta.IsStatusConditionTrue(given.Conditions, given.Type),
			meta.IsStatusConditionFalse(given.Conditions, given.Type),
			meta.FindStatusCondition(given.Conditions, given.Type) != nil,
		}, nil
	})
}

type eventCase struct {
	Options struct {
		LRUSize   int     `json:"lruSize"`
		Burst     int     `json:"burst"`
		QPS       float32 `json:"qps"`
		MaxEvents int     `json:"maxEvents"`
		Interval  int     `json:"interval"`
	} `json:"options"`
	Steps []struct {
		Advance float64 `json:"advance"`
		Name    string  `json:"name"`
		Object  string  `json:"object"`
		Type    string  `json:"type"`
		Reason  string  `json:"reason"`
		Message string  `json:"message"`
		Source  string  `json:"source"`
		// what the server calls the event it has stored
		Version string `json:"version"`
	} `json:"steps"`
}

func correlation() {
	answers("events.correlate", func(given eventCase) (any, error) {
		clock := testingclock.NewFakePassiveClock(time.Unix(1_700_000_000, 0).UTC())
		correlator := record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{
			LRUCacheSize: given.Options.LRUSize, BurstSize: given.Options.Burst, QPS: given.Options.QPS,
			MaxEvents: given.Options.MaxEvents, MaxIntervalInSeconds: given.Options.Interval, Clock: clock,
		})
		found := []any{}
		for _, step := range given.Steps {
			clock.SetTime(clock.Now().Add(ms(step.Advance)))
			now := metav1.NewTime(clock.Now())
			result, err := correlator.EventCorrelate(&corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Name: step.Name, Namespace: "shop"},
				InvolvedObject: corev1.ObjectReference{
					APIVersion: "v1", Kind: "Pod", Name: step.Object, Namespace: "shop", UID: types.UID("uid-" + step.Object),
				},
				Type: step.Type, Reason: step.Reason, Message: step.Message,
				Source: corev1.EventSource{Component: step.Source}, Count: 1, FirstTimestamp: now, LastTimestamp: now,
			})
			if err != nil {
				return nil, err
			}
			if result.Skip {
				found = append(found, nil)
				continue
			}
			event := result.Event
			name := event.Name
			if strings.HasPrefix(event.Message, "(combined from similar events): ") {
				name = "combined" // it is made of the moment
			}
			answer := map[string]any{
				"name": name, "count": event.Count, "message": event.Message,
				"version": event.ResourceVersion,
				"first":   event.FirstTimestamp, "last": event.LastTimestamp, "patch": nil,
			}
			if event.Count > 1 {
				answer["patch"] = changes(result.Patch)
			}
			found = append(found, answer)
			stored := event.DeepCopy()
			stored.ResourceVersion = step.Version
			correlator.UpdateState(stored)
		}
		return found, nil
	})
	answers("events.make", func(given struct {
		Object    corev1.ObjectReference
		Type      string
		Reason    string
		Message   string
		Component string
	}) (any, error) {
		broadcaster := record.NewBroadcaster()
		defer broadcaster.Shutdown()
		seen := make(chan *corev1.Event, 1)
		broadcaster.StartEventWatcher(func(event *corev1.Event) { seen <- event })
		made := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: given.Component})
		made.Event(&given.Object, given.Type, given.Reason, given.Message)
		select {
		case event := <-seen:
			name := "random"
			if strings.HasPrefix(event.Name, given.Object.Name+".") {
				name = given.Object.Name // and the moment
			}
			return map[string]any{
				"name": name, "namespace": event.Namespace, "about": event.InvolvedObject, "reason": event.Reason,
				"message": event.Message, "type": event.Type, "count": event.Count, "source": event.Source,
				"component": event.ReportingController,
			}, nil
		case <-time.After(200 * time.Millisecond):
			return nil, nil // a type that does not exist: nothing is recorded
		}
	})
}

// changes leaves the null and the time out that every patch of this kind has.
func changes(patch []byte) any {
	var found map[string]any
	if err := json.Unmarshal(patch, &found); err != nil {
		fatal(err)
	}
	return found
}

func elections() {
	answers("election.times", func(given struct{ Lease, Deadline, Retry float64 }) (any, error) {
		_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}},
			LeaseDuration: ms(given.Lease), RenewDeadline: ms(given.Deadline), RetryPeriod: ms(given.Retry),
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {},
			},
		})
		return nil, err
	})
	answers("election.read", func(given coordinationv1.LeaseSpec) (any, error) {
		return resourcelock.LeaseSpecToLeaderElectionRecord(&given), nil
	})
	answers("election.write", func(given resourcelock.LeaderElectionRecord) (any, error) {
		return resourcelock.LeaderElectionRecordToLeaseSpec(&given), nil
	})
	answers("election.lockType", func(given string) (any, error) {
		_, err := resourcelock.New(given, "ns", "name", nil, nil, resourcelock.ResourceLockConfig{})
		return nil, err
	})
}

type kept struct{ header http.Header }

func (given *kept) RoundTrip(request *http.Request) (*http.Response, error) {
	given.header = request.Header
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(nil))}, nil
}

func headers() {
	answers("impersonation.headers", func(given struct {
		User   string
		UID    string
		Groups []string
		Extra  map[string][]string
	}) (any, error) {
		sent := &kept{}
		tripper := transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{
			UserName: given.User, UID: given.UID, Groups: given.Groups, Extra: given.Extra,
		}, sent)
		request, err := http.NewRequest("GET", "http://test/", nil)
		if err != nil {
			fatal(err)
		}
		if _, err := tripper.RoundTrip(request); err != nil {
			return nil, err
		}
		return sent.header, nil
	})
	answers("warnings.parse", func(given []string) (any, error) {
		found, _ := utilnet.ParseWarningHeaders(given)
		listed := []any{}
		for _, each := range found {
			listed = append(listed, []any{each.Code, each.Agent, each.Text})
		}
		return listed, nil
	})
	answers("proxy.for", func(given struct {
		HTTP, HTTPS, None, URL string
	}) (any, error) {
		address, err := url.Parse(given.URL)
		if err != nil {
			fatal(err)
		}
		rules := httpproxy.Config{HTTPProxy: given.HTTP, HTTPSProxy: given.HTTPS, NoProxy: given.None}
		found, err := rules.ProxyFunc()(address)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, nil
		}
		return found.String(), nil
	})
}
