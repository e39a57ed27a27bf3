package main

import (
	"bytes"
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
)

func init() {
	answers("jsonpath.print", func(given struct {
		Template string          `json:"template"`
		Data     json.RawMessage `json:"data"`
		Missing  bool            `json:"missing"`
	}) (any, error) {
		var data any
		// As unstructured objects are read: whole numbers are integers.
		if err := utiljson.Unmarshal(given.Data, &data); err != nil {
			fatal(err)
		}
		path := jsonpath.New("golden").AllowMissingKeys(given.Missing)
		if err := path.Parse(given.Template); err != nil {
			return nil, err
		}
		var output bytes.Buffer
		if err := path.Execute(&output, data); err != nil {
			return nil, err
		}
		return output.String(), nil
	})
}
