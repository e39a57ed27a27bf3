// Answers cases with client-go and apimachinery: what kubeloop's answers are compared with.
//
// Standard input is a JSON list of [operation, input]; standard output is a JSON object with the
// versions of the modules and one answer for each case, in the same order. An answer is
// {"value": ...}, {"refused": true} for an error, or {"panics": true}. Error texts are left out:
// they are not compared, and some of them list the entries of a map in random order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

type operation func(input json.RawMessage) (any, error)

var operations = map[string]operation{}

// answers registers an operation whose input has type T.
func answers[T any](name string, answer func(T) (any, error)) {
	if _, taken := operations[name]; taken {
		panic("two operations are called " + name)
	}
	operations[name] = func(input json.RawMessage) (any, error) {
		var given T
		if err := json.Unmarshal(input, &given); err != nil {
			fatal(fmt.Errorf("%s: input %s: %w", name, input, err))
		}
		return answer(given)
	}
}

func main() {
	klog.SetLogger(logr.Discard())
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fatal(err)
	}
	var cases [][2]json.RawMessage
	if err := json.Unmarshal(text, &cases); err != nil {
		fatal(err)
	}
	given := make([]any, 0, len(cases))
	for _, each := range cases {
		var name string
		if err := json.Unmarshal(each[0], &name); err != nil {
			fatal(err)
		}
		known, found := operations[name]
		if !found {
			fatal(fmt.Errorf("no operation %q", name))
		}
		given = append(given, answer(known, each[1]))
	}
	output := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"source": versions(), "answers": given}); err != nil {
		fatal(err)
	}
	if err := output.Flush(); err != nil {
		fatal(err)
	}
}

func answer(known operation, input json.RawMessage) (result map[string]any) {
	defer func() {
		if problem := recover(); problem != nil {
			result = map[string]any{"panics": true}
		}
	}()
	value, err := known(input)
	if err != nil {
		return map[string]any{"refused": true}
	}
	return map[string]any{"value": value}
}

func versions() map[string]string {
	wanted := map[string]string{}
	build, found := debug.ReadBuildInfo()
	if !found {
		fatal(fmt.Errorf("the program was built without module versions"))
	}
	for _, module := range build.Deps {
		switch module.Path {
		case "k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go", "gopkg.in/evanphx/json-patch.v4":
			wanted[module.Path] = module.Version
		}
	}
	return wanted
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "golden:", err)
	os.Exit(1)
}
