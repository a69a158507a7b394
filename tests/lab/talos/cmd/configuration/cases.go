package main

import (
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
)

// One case of a differential test: a configuration that is generated or given, then patched as `talosctl gen config`
// patches, that is, read again and written anew after all patches.

type caseArguments struct {
	generateArguments
	// Role is controlplane or worker.
	Role string `json:"role"`
	// Configuration stands in place of all that is generated.
	Configuration *string `json:"configuration"`
}

type caseResult struct {
	// Configuration is empty when something was refused.
	Configuration string `json:"configuration"`
	// Refused is what the library said.
	Refused string `json:"refused"`
	// Patch is which of the patches was refused; -1 when it was none of them.
	Patch int `json:"patch"`
}

var loadedBundles = map[string]*secrets.Bundle{}

// oneCase never refuses: what the library refused is part of the result.
func oneCase(arguments caseArguments) (any, error) {
	result := caseResult{Patch: -1}

	provider, err := arguments.start()
	if err != nil {
		result.Refused = err.Error()

		return result, nil
	}

	for index, text := range arguments.Patches {
		if provider, err = patchedOnce(provider, text); err != nil {
			return caseResult{Patch: index, Refused: err.Error()}, nil
		}
	}

	text, err := provider.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		result.Refused = err.Error()

		return result, nil
	}

	result.Configuration = string(text)

	return result, nil
}

func (arguments caseArguments) start() (config.Provider, error) {
	if arguments.Configuration != nil {
		return configloader.NewFromBytes([]byte(*arguments.Configuration))
	}

	contract, err := contractOf(arguments.TalosVersion)
	if err != nil {
		return nil, err
	}

	loaded, known := loadedBundles[*arguments.Secrets]
	if !known {
		if loaded, err = loadOrNew(arguments.Secrets, contract); err != nil {
			return nil, err
		}

		loadedBundles[*arguments.Secrets] = loaded
	}

	input, err := generate.NewInput(arguments.ClusterName, arguments.Endpoint, arguments.KubernetesVersion,
		arguments.options(loaded, contract)...)
	if err != nil {
		return nil, err
	}

	if arguments.PodSubnets != nil {
		input.PodNet = arguments.PodSubnets
	}

	if arguments.ServiceSubnets != nil {
		input.ServiceNet = arguments.ServiceSubnets
	}

	role, err := machine.ParseType(arguments.Role)
	if err != nil {
		return nil, err
	}

	return input.Config(role)
}

func patchedOnce(provider config.Provider, text string) (patched config.Provider, err error) {
	defer recoverInto(&err)

	loaded, err := configpatcher.LoadPatch([]byte(text))
	if err != nil {
		return nil, err
	}

	output, err := configpatcher.Apply(configpatcher.WithConfig(provider), []configpatcher.Patch{loaded})
	if err != nil {
		return nil, err
	}

	if patched, err = output.Config(); err != nil {
		return nil, err
	}

	// The library finds some faults of a patch only when it writes.
	_, err = patched.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))

	return patched, err
}
