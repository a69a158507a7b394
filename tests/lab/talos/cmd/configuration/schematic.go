package main

import "gopkg.in/yaml.v3"

// The content of an image factory's schematic. The factory's own module is not to be had from the module proxy, so that
// only its emitter, which is what the id hangs on, is the original.

type schematicArguments struct {
	Customization struct {
		ExtraKernelArgs  []string `json:"extra_kernel_args" yaml:"extraKernelArgs,omitempty"`
		SystemExtensions struct {
			OfficialExtensions []string `json:"official_extensions" yaml:"officialExtensions,omitempty"`
		} `json:"system_extensions" yaml:"systemExtensions,omitempty"`
	} `json:"customization" yaml:"customization"`
}

func schematicText(arguments schematicArguments) (any, error) {
	text, err := yaml.Marshal(arguments)

	return map[string]string{"text": string(text)}, err
}
