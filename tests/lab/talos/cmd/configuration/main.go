// Command configuration lets Talos' own library decode, validate, patch, compare and generate machine configurations.
//
// `talos-configuration serve` reads one JSON line a question from standard input, {"op": …, "arguments": {…}}, and
// writes one a reply to standard output, {"result": {…}} or {"refused": "text"}, until its input ends.
// `talos-configuration OPERATION` answers one question whose arguments stand on standard input, for use from a shell.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// operations are the questions that are answered: arguments as JSON in, a result that encodes as JSON out.
var operations = map[string]func(json.RawMessage) (any, error){
	"decode":    withArguments(decode),
	"validate":  withArguments(validate),
	"patch":     withArguments(patch),
	"diff":      withArguments(difference),
	"generate":  withArguments(generateAll),
	"secrets":   withArguments(bundle),
	"case":      withArguments(oneCase),
	"samples":   withArguments(samples),
	"schematic": withArguments(schematicText),
	"alter":     withArguments(alter),
}

type question struct {
	Operation string          `json:"op"`
	Arguments json.RawMessage `json:"arguments"`
}

type reply struct {
	Result  any     `json:"result,omitempty"`
	Refused *string `json:"refused,omitempty"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "talos-configuration:", err)
		os.Exit(1)
	}
}

func run(arguments []string, input io.Reader, output io.Writer) error {
	if len(arguments) != 1 {
		return errors.New("expected one argument: serve, " + strings.Join(names(), ", "))
	}

	if arguments[0] == "serve" {
		return serve(input, output)
	}

	text, err := io.ReadAll(input)
	if err != nil {
		return err
	}

	result, err := answer(question{Operation: arguments[0], Arguments: text})
	if err != nil {
		return err
	}

	encoder := json.NewEncoder(output)
	encoder.SetIndent("", "  ")

	return encoder.Encode(result)
}

func serve(input io.Reader, output io.Writer) error {
	decoder := json.NewDecoder(bufio.NewReader(input))
	encoder := json.NewEncoder(output)

	for {
		var asked question

		if err := decoder.Decode(&asked); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}

			return fmt.Errorf("read a question: %w", err)
		}

		var said reply

		if result, err := answer(asked); err != nil {
			text := err.Error()
			said.Refused = &text
		} else {
			said.Result = result
		}

		if err := encoder.Encode(said); err != nil {
			return fmt.Errorf("write a reply: %w", err)
		}
	}
}

// answer never panics: Talos' library does for some inputs, where the machine's server would say so.
func answer(asked question) (result any, err error) {
	operation, known := operations[asked.Operation]
	if !known {
		return nil, fmt.Errorf("unknown operation %q: expected one of %s", asked.Operation, strings.Join(names(), ", "))
	}

	defer recoverInto(&err)

	return operation(asked.Arguments)
}

// recoverInto makes a panic an error, when it is deferred.
func recoverInto(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v", cause)
	}
}

func names() []string {
	var all []string

	for name := range operations {
		all = append(all, name)
	}

	slices.Sort(all)

	return all
}

func withArguments[A any](operation func(A) (any, error)) func(json.RawMessage) (any, error) {
	return func(text json.RawMessage) (any, error) {
		var arguments A

		if err := json.Unmarshal(text, &arguments); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}

		return operation(arguments)
	}
}
