// Answers cases of JSON patches with the library that kube-apiserver uses.
//
//	go run . < cases.json > answers.json
//
// A case has a document and a patch; its answer is the document afterwards, or an error. The
// limit on copies is kube-apiserver's.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

type answeredCase struct {
	Document json.RawMessage `json:"document"`
	Patch    json.RawMessage `json:"patch"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func answer(one *answeredCase) {
	defer func() {
		if reason := recover(); reason != nil {
			one.Result, one.Error = nil, fmt.Sprintf("panic: %v", reason)
		}
	}()
	patch, err := jsonpatch.DecodePatch(one.Patch)
	if err == nil {
		one.Result, err = patch.Apply(one.Document)
	}
	if err != nil {
		one.Result, one.Error = nil, err.Error()
	}
}

func main() {
	jsonpatch.AccumulatedCopySizeLimit = 3 * 1024 * 1024
	var cases []answeredCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		fmt.Fprintln(os.Stderr, "read cases:", err)
		os.Exit(1)
	}
	for i := range cases {
		answer(&cases[i])
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(cases); err != nil {
		fmt.Fprintln(os.Stderr, "write answers:", err)
		os.Exit(1)
	}
}
