package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

type answerCase struct {
	Method      string `json:"method"`
	Code        int    `json:"code"`
	ContentType string `json:"contentType"`
	RetryAfter  string `json:"retryAfter"`
	Body        string `json:"body"`
}

func (given answerCase) RoundTrip(request *http.Request) (*http.Response, error) {
	header := http.Header{}
	if given.ContentType != "" {
		header.Set("Content-Type", given.ContentType)
	}
	if given.RetryAfter != "" {
		header.Set("Retry-After", given.RetryAfter)
	}
	return &http.Response{
		StatusCode: given.Code, Header: header, Request: request,
		Body: io.NopCloser(strings.NewReader(given.Body)),
	}, nil
}

func client(transport http.RoundTripper) *rest.RESTClient {
	config := &rest.Config{
		Host: "http://test", APIPath: "/api", Transport: transport, QPS: -1,
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &schema.GroupVersion{Version: "v1"},
			NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		},
	}
	made, err := rest.RESTClientFor(config)
	if err != nil {
		fatal(err)
	}
	return made
}

var kinds = map[string]func(error) bool{
	"AlreadyExists":         apierrors.IsAlreadyExists,
	"BadRequest":            apierrors.IsBadRequest,
	"Conflict":              apierrors.IsConflict,
	"Expired":               apierrors.IsResourceExpired,
	"Forbidden":             apierrors.IsForbidden,
	"Gone":                  apierrors.IsGone,
	"InternalError":         apierrors.IsInternalError,
	"Invalid":               apierrors.IsInvalid,
	"MethodNotAllowed":      apierrors.IsMethodNotSupported,
	"NotAcceptable":         apierrors.IsNotAcceptable,
	"NotFound":              apierrors.IsNotFound,
	"RequestEntityTooLarge": apierrors.IsRequestEntityTooLargeError,
	"ServerTimeout":         apierrors.IsServerTimeout,
	"ServiceUnavailable":    apierrors.IsServiceUnavailable,
	"StorageReadError":      apierrors.IsStoreReadError,
	"Timeout":               apierrors.IsTimeout,
	"TooManyRequests":       apierrors.IsTooManyRequests,
	"Unauthorized":          apierrors.IsUnauthorized,
	"UnsupportedMediaType":  apierrors.IsUnsupportedMediaType,
}

func failure(err error) any {
	is := []string{}
	for name, test := range kinds {
		if test(err) {
			is = append(is, name)
		}
	}
	sorted(is)
	answer := map[string]any{"is": is, "reason": string(apierrors.ReasonForError(err)), "delay": nil}
	if seconds, wanted := apierrors.SuggestsClientDelay(err); wanted {
		answer["delay"] = seconds
	}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status := known.Status()
		answer["code"] = status.Code
		causes := []string{}
		if status.Details != nil {
			for _, each := range status.Details.Causes {
				causes = append(causes, string(each.Type))
			}
		}
		answer["causes"] = causes
	}
	return answer
}

type requestCase struct {
	Verb        string      `json:"verb"`
	Group       string      `json:"group"`
	Version     string      `json:"version"`
	Resource    string      `json:"resource"`
	Namespace   string      `json:"namespace"`
	Name        string      `json:"name"`
	Subresource []string    `json:"subresource"`
	Suffix      string      `json:"suffix"`
	Params      [][2]string `json:"params"`
	Base        string      `json:"base"`
	Segments    []string    `json:"segments"`
	URI         string      `json:"uri"`
}

func (given requestCase) request() (*rest.Request, error) {
	group := schema.GroupVersion{Group: given.Group, Version: given.Version}
	prefix := "/apis"
	if given.Group == "" {
		prefix = "/api"
	}
	base, versioned, err := rest.DefaultServerURL(given.Base, prefix, group, false)
	if err != nil {
		return nil, err
	}
	return rest.NewRequestWithClient(base, versioned, rest.ClientContentConfig{}, nil).Verb(given.Verb), nil
}

func address(request *rest.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if request.Error() != nil {
		return nil, request.Error()
	}
	found := request.URL()
	if found.Path == "" {
		found.Path = "/" // what is sent for an empty path
	}
	return found.String(), nil
}

func init() {
	answers("errors.ofAnswer", func(given answerCase) (any, error) {
		err := client(given).Verb(given.Method).Namespace("shop").Resource("pods").Name("web").
			MaxRetries(0).Do(context.Background()).Error()
		if err == nil {
			return nil, nil
		}
		return failure(err), nil
	})
	answers("errors.ofStatus", func(given metav1.Status) (any, error) {
		return failure(apierrors.FromObject(&given)), nil
	})
	answers("request.path", func(given requestCase) (any, error) {
		request, err := given.request()
		if err != nil {
			return nil, err
		}
		request = request.NamespaceIfScoped(given.Namespace, given.Namespace != "").Resource(given.Resource)
		if given.Name != "" {
			request = request.Name(given.Name)
		}
		request = request.SubResource(given.Subresource...)
		if given.Suffix != "" {
			request = request.Suffix(given.Suffix)
		}
		for _, pair := range given.Params {
			request = request.Param(pair[0], pair[1])
		}
		return address(request, nil)
	})
	answers("request.absolute", func(given requestCase) (any, error) {
		request, err := given.request()
		if err != nil {
			return nil, err
		}
		return address(request.AbsPath(given.Segments...), nil)
	})
	answers("request.uri", func(given requestCase) (any, error) {
		request, err := given.request()
		if err != nil {
			return nil, err
		}
		return address(request.RequestURI(given.URI), nil)
	})
	answers("request.listOptions", func(given metav1.ListOptions) (any, error) {
		return encoded(scheme.ParameterCodec.EncodeParameters(&given, schema.GroupVersion{Version: "v1"}))
	})
	answers("request.logOptions", func(given corev1.PodLogOptions) (any, error) {
		return encoded(scheme.ParameterCodec.EncodeParameters(&given, schema.GroupVersion{Version: "v1"}))
	})
	answers("request.execOptions", func(given corev1.PodExecOptions) (any, error) {
		return encoded(scheme.ParameterCodec.EncodeParameters(&given, schema.GroupVersion{Version: "v1"}))
	})
	answers("server.url", func(given struct {
		Host string
		TLS  bool
	}) (any, error) {
		config := &rest.Config{Host: given.Host, APIPath: "/api"}
		config.GroupVersion = &schema.GroupVersion{Version: "v1"}
		config.Insecure = given.TLS
		base, path, err := rest.DefaultServerUrlFor(config)
		if err != nil {
			return nil, err
		}
		return strings.TrimRight(base.String(), "/") + path, nil
	})
	answers("server.apiPath", func(given [2]string) (any, error) {
		prefix := "/apis"
		if given[0] == "" {
			prefix = "/api"
		}
		return rest.DefaultVersionedAPIPath(prefix, schema.GroupVersion{Group: given[0], Version: given[1]}), nil
	})
}

func encoded(values url.Values, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return values.Encode(), nil
}
