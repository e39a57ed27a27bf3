package main

import (
	"encoding/json"
	"errors"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	names "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/tools/cache"
)

func init() {
	selectors()
	validations()
	quantities()
	numbersOrStrings()
	moments()
	identities()
}

type selectionCase struct {
	Selector string            `json:"selector"`
	Values   map[string]string `json:"values"`
	Key      string            `json:"key"`
}

func selectors() {
	answers("labels.parse", func(text string) (any, error) {
		found, err := labels.Parse(text)
		if err != nil {
			return nil, err
		}
		return labelSelector(found), nil
	})
	answers("labels.matches", func(given selectionCase) (any, error) {
		found, err := labels.Parse(given.Selector)
		if err != nil {
			return nil, err
		}
		return found.Matches(labels.Set(given.Values)), nil
	})
	answers("labels.exact", func(given selectionCase) (any, error) {
		found, err := labels.Parse(given.Selector)
		if err != nil {
			return nil, err
		}
		if value, exact := found.RequiresExactMatch(given.Key); exact {
			return value, nil
		}
		return nil, nil
	})
	answers("labels.fromMap", func(given map[string]string) (any, error) {
		found, err := labels.ValidatedSelectorFromSet(given)
		if err != nil {
			return nil, err
		}
		return found.String(), nil
	})
	answers("labels.fromObject", func(given *metav1.LabelSelector) (any, error) {
		found, err := metav1.LabelSelectorAsSelector(given)
		if err != nil {
			return nil, err
		}
		return labelSelector(found), nil
	})
	answers("fields.parse", func(text string) (any, error) {
		found, err := fields.ParseSelector(text)
		if err != nil {
			return nil, err
		}
		terms := [][]string{}
		for _, each := range found.Requirements() {
			operator := string(each.Operator)
			if each.Operator == selection.DoubleEquals {
				operator = "="
			}
			terms = append(terms, []string{each.Field, operator, each.Value})
		}
		return map[string]any{"text": found.String(), "terms": terms, "everything": found.Empty()}, nil
	})
	answers("fields.matches", func(given selectionCase) (any, error) {
		found, err := fields.ParseSelector(given.Selector)
		if err != nil {
			return nil, err
		}
		return found.Matches(fields.Set(given.Values)), nil
	})
	answers("fields.escape", func(text string) (any, error) { return fields.EscapeValue(text), nil })
	answers("fields.unescape", func(text string) (any, error) { return fields.UnescapeValue(text) })
}

func labelSelector(found labels.Selector) map[string]any {
	requirements, selectable := found.Requirements()
	listed := [][]any{}
	for _, each := range requirements {
		listed = append(listed, []any{each.Key(), string(each.Operator()), each.Values().List()})
	}
	return map[string]any{
		"text": found.String(), "requirements": listed,
		"nothing": !selectable, "everything": found.Empty(),
	}
}

func validations() {
	rules := map[string]func(string) []string{
		"dns1123Label":           names.IsDNS1123Label,
		"dns1123Subdomain":       names.IsDNS1123Subdomain,
		"dns1035Label":           names.IsDNS1035Label,
		"labelKey":               names.IsQualifiedName,
		"labelValue":             names.IsValidLabelValue,
		"pathSegment":            path.IsValidPathSegmentName,
		"dns1123LabelPrefix":     func(name string) []string { return validation.NameIsDNSLabel(name, true) },
		"dns1123SubdomainPrefix": func(name string) []string { return validation.NameIsDNSSubdomain(name, true) },
		"dns1035LabelPrefix":     func(name string) []string { return validation.NameIsDNS1035Label(name, true) },
	}
	answers("names.valid", func(given struct{ Rule, Value string }) (any, error) {
		return len(rules[given.Rule](given.Value)) == 0, nil
	})
	answers("names.annotations", func(given [][3]any) (any, error) {
		annotations := map[string]string{}
		for _, each := range given {
			annotations[each[0].(string)] = strings.Repeat(each[1].(string), int(each[2].(float64)))
		}
		return len(validation.ValidateAnnotations(annotations, field.NewPath("metadata"))) == 0, nil
	})
}

func quantities() {
	answers("quantity.parse", func(text string) (any, error) {
		parsed, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, err
		}
		return quantity(parsed), nil
	})
	answers("quantity.value", func(text string) (any, error) {
		parsed := resource.MustParse(text)
		return parsed.Value(), nil
	})
	answers("quantity.milliValue", func(text string) (any, error) {
		parsed := resource.MustParse(text)
		return parsed.MilliValue(), nil
	})
	answers("quantity.integer", func(text string) (any, error) {
		parsed := resource.MustParse(text)
		if number, fits := parsed.AsInt64(); fits {
			return number, nil
		}
		return nil, nil
	})
	answers("quantity.decode", func(given string) (any, error) {
		var parsed resource.Quantity
		if err := json.Unmarshal([]byte(given), &parsed); err != nil {
			return nil, err
		}
		return quantity(parsed), nil
	})
	answers("quantity.pair", func(given [2]string) (any, error) {
		first, second := resource.MustParse(given[0]), resource.MustParse(given[1])
		sum, difference := first.DeepCopy(), first.DeepCopy()
		sum.Add(second)
		difference.Sub(second)
		return map[string]any{
			"compare": first.Cmp(second), "equal": first.Equal(second),
			"sum": sum.String(), "difference": difference.String(),
		}, nil
	})
	answers("quantity.scaled", func(given struct {
		Text  string
		Scale int32
	}) (any, error) {
		parsed := resource.MustParse(given.Text)
		return parsed.ScaledValue(resource.Scale(given.Scale)), nil
	})
	answers("quantity.times", func(given struct {
		Text   string
		Factor int64
	}) (any, error) {
		parsed := resource.MustParse(given.Text)
		parsed.Mul(given.Factor)
		return parsed.String(), nil
	})
	answers("quantity.new", func(given struct {
		Number int64
		Scale  int32
		Format string
	}) (any, error) {
		made := resource.NewScaledQuantity(given.Number, resource.Scale(given.Scale))
		made.Format = resource.Format(given.Format)
		return made.String(), nil
	})
}

func quantity(parsed resource.Quantity) map[string]any {
	negative := parsed.DeepCopy()
	negative.Neg()
	return map[string]any{
		"text": parsed.String(), "format": string(parsed.Format), "sign": parsed.Sign(),
		"zero": parsed.IsZero(), "negative": negative.String(),
	}
}

func numbersOrStrings() {
	answers("intstr.parse", func(text string) (any, error) { return intstr.Parse(text), nil })
	answers("intstr.decode", func(given string) (any, error) {
		var parsed intstr.IntOrString
		if err := json.Unmarshal([]byte(given), &parsed); err != nil {
			return nil, err
		}
		return parsed, nil
	})
	answers("intstr.scaled", func(given struct {
		Value   intstr.IntOrString
		Total   int
		RoundUp bool
	}) (any, error) {
		return intstr.GetScaledValueFromIntOrPercent(&given.Value, given.Total, given.RoundUp)
	})
}

const micro = "2006-01-02T15:04:05.000000Z"

func moments() {
	answers("time.decode", func(given string) (any, error) {
		var parsed metav1.Time
		if err := json.Unmarshal([]byte(given), &parsed); err != nil {
			return nil, err
		}
		return moment(parsed.Time, parsed)
	})
	answers("microtime.decode", func(given string) (any, error) {
		var parsed metav1.MicroTime
		if err := json.Unmarshal([]byte(given), &parsed); err != nil {
			return nil, err
		}
		return moment(parsed.Time, parsed)
	})
	answers("duration.decode", func(given string) (any, error) {
		var parsed metav1.Duration
		if err := json.Unmarshal([]byte(given), &parsed); err != nil {
			return nil, err
		}
		return map[string]any{"nanoseconds": parsed.Nanoseconds(), "text": parsed.Duration.String()}, nil
	})
}

// moment cuts to the microsecond: Python's datetime has no more digits.
func moment(at time.Time, encoded json.Marshaler) (any, error) {
	if at.IsZero() {
		return nil, nil
	}
	text, err := encoded.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"moment": at.UTC().Truncate(time.Microsecond).Format(micro), "text": strings.Trim(string(text), `"`),
	}, nil
}

type keyedObject struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func identities() {
	answers("groupVersion.parse", func(text string) (any, error) {
		found, err := schema.ParseGroupVersion(text)
		if err != nil {
			return nil, err
		}
		return map[string]any{"group": found.Group, "version": found.Version, "text": found.String()}, nil
	})
	answers("groupKind.parse", func(text string) (any, error) {
		found := schema.ParseGroupKind(text)
		return []string{found.Group, found.Kind, found.String()}, nil
	})
	answers("groupResource.parse", func(text string) (any, error) {
		found := schema.ParseGroupResource(text)
		return []string{found.Group, found.Resource, found.String()}, nil
	})
	answers("groupVersionKind.text", func(given [3]string) (any, error) {
		found := schema.GroupVersionKind{Group: given[0], Version: given[1], Kind: given[2]}
		return []string{found.String(), found.GroupVersion().String(), found.GroupKind().String()}, nil
	})
	answers("groupVersionKind.of", func(given [2]string) (any, error) {
		// An object whose apiVersion cannot be read has no kind at all in client-go.
		parsed, err := schema.ParseGroupVersion(given[0])
		if err != nil {
			return nil, err
		}
		found := parsed.WithKind(given[1])
		return []string{found.Group, found.Version, found.Kind}, nil
	})
	answers("versions.order", func(given []string) (any, error) {
		sort.SliceStable(given, func(i, j int) bool {
			return version.CompareKubeAwareVersionStrings(given[i], given[j]) > 0
		})
		return given, nil
	})
	answers("resourceVersion.compare", func(given [2]string) (any, error) {
		return resourceversion.CompareResourceVersion(given[0], given[1])
	})
	answers("key.split", func(text string) (any, error) {
		namespace, name, err := cache.SplitMetaNamespaceKey(text)
		if err != nil {
			return nil, err
		}
		return []string{namespace, name}, nil
	})
	answers("key.of", func(given *keyedObject) (any, error) {
		if given == nil {
			return cache.MetaNamespaceKeyFunc(nil)
		}
		return cache.MetaNamespaceKeyFunc(&metav1.ObjectMeta{Namespace: given.Namespace, Name: given.Name})
	})
}

var errUnexpected = errors.New("unexpected input")
