// Command client calls a machine with Talos' own Go client and prints what came back.
//
//	talos-client ADDRESS insecure < calls.json             in maintenance mode, without a certificate
//	talos-client ADDRESS TALOSCONFIG < calls.json          with the credentials of a talosconfig file
//	talos-client kinds                                     the kinds of resources that Talos knows
//
// The input is a JSON list of calls: {"call": NAME, "arguments": {…}, "seconds": 10}. A name with a slash is a method,
// called with its request as protobuf JSON and a limit on the number of items of its stream; the others are the client's
// own functions, see calls.go. The output is one JSON line a call: {"call", "code", "text", "result"}, the result being
// the reply, or the list of a stream's items.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// call is one line of the script.
type call struct {
	Name      string          `json:"call"`
	Arguments json.RawMessage `json:"arguments"`
	// Seconds bounds the call.
	Seconds float64 `json:"seconds"`
	// Items ends a stream after so many items; 0 reads it to its end.
	Items int `json:"items"`
	// Headers are sent as gRPC metadata.
	Headers map[string]string `json:"headers"`
}

// outcome is one line of the output.
type outcome struct {
	Name   string `json:"call"`
	Code   string `json:"code"`
	Text   string `json:"text"`
	Result any    `json:"result,omitempty"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "talos-client:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 1 && arguments[0] == "kinds" {
		known, err := kinds()
		if err != nil {
			return err
		}

		return json.NewEncoder(os.Stdout).Encode(known)
	}

	if len(arguments) != 2 {
		return errors.New("expected ADDRESS and a talosconfig file, or `insecure`; or `kinds`")
	}

	script, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fmt.Errorf("failed to read the calls: %w", err)
	}

	var calls []call

	if err := json.Unmarshal(script, &calls); err != nil {
		return fmt.Errorf("failed to understand the calls: %w", err)
	}

	machine, err := connect(arguments[0], arguments[1])
	if err != nil {
		return fmt.Errorf("failed to set up the client: %w", err)
	}
	defer machine.close()

	for _, next := range calls {
		if err := json.NewEncoder(os.Stdout).Encode(machine.execute(next)); err != nil {
			return err
		}
	}

	return nil
}

// execute makes a call within its time.
func (m *machine) execute(next call) outcome {
	seconds := next.Seconds
	if seconds == 0 {
		seconds = 30
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()

	result, err := m.dispatch(ctx, next)

	return outcome{Name: next.Name, Code: code(err).String(), Text: text(err), Result: result}
}

// code is the status code of an error; what never was a status is Unknown.
func code(err error) codes.Code {
	return client.StatusCode(err)
}

func text(err error) string {
	if err == nil {
		return ""
	}

	if from, ok := status.FromError(err); ok {
		return from.Message()
	}

	return err.Error()
}

// options are the client's options for a machine at this address.
func options(address, credentials string) ([]client.OptionFunc, *tls.Config, error) {
	if credentials == "insecure" {
		config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a machine in maintenance mode has nothing to verify

		return []client.OptionFunc{client.WithEndpoints(address), client.WithTLSConfig(config)}, config, nil
	}

	config, err := clientconfig.Open(credentials)
	if err != nil {
		return nil, nil, err
	}

	named, ok := config.Contexts[config.Context]
	if !ok {
		return nil, nil, fmt.Errorf("no context %q in %s", config.Context, credentials)
	}

	credentialsTLS, err := mutualTLS(named)
	if err != nil {
		return nil, nil, err
	}

	return []client.OptionFunc{client.WithEndpoints(address), client.WithConfigContext(named)}, credentialsTLS, nil
}
