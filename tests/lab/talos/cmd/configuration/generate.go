package main

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v4"
)

type generateArguments struct {
	ClusterName             string            `json:"cluster_name"`
	Endpoint                string            `json:"endpoint"`
	Secrets                 *string           `json:"secrets"`
	TalosVersion            string            `json:"talos_version"`
	KubernetesVersion       string            `json:"kubernetes_version"`
	SubjectAlternativeNames []string          `json:"subject_alternative_names"`
	InstallDisk             string            `json:"install_disk"`
	InstallImage            string            `json:"install_image"`
	CNI                     string            `json:"cni"`
	DNSDomain               string            `json:"dns_domain"`
	Discovery               *bool             `json:"discovery"`
	ScheduleOnControlPlanes bool              `json:"schedule_on_control_planes"`
	LocalAPIServerPort      *int              `json:"local_api_server_port"`
	KubePrismPort           *int              `json:"kube_prism_port"`
	PodSubnets              []string          `json:"pod_subnets"`
	ServiceSubnets          []string          `json:"service_subnets"`
	RegistryMirrors         []mirror          `json:"registry_mirrors"`
	Sysctls                 map[string]string `json:"sysctls"`
	Patches                 []string          `json:"patches"`
	ControlPlanePatches     []string          `json:"control_plane_patches"`
	WorkerPatches           []string          `json:"worker_patches"`
}

type mirror struct {
	Host      string   `json:"host"`
	Endpoints []string `json:"endpoints"`
}

type generateResult struct {
	ControlPlane string `json:"control_plane"`
	Worker       string `json:"worker"`
	Talosconfig  string `json:"talosconfig"`
	Secrets      string `json:"secrets"`
}

func generateAll(arguments generateArguments) (any, error) {
	contract, err := contractOf(arguments.TalosVersion)
	if err != nil {
		return nil, err
	}

	loaded, err := loadOrNew(arguments.Secrets, contract)
	if err != nil {
		return nil, err
	}

	input, err := generate.NewInput(arguments.ClusterName, arguments.Endpoint, arguments.KubernetesVersion,
		arguments.options(loaded, contract)...)
	if err != nil {
		return nil, err
	}

	var result generateResult

	if result.ControlPlane, err = generateOne(input, machine.TypeControlPlane, arguments.Patches, arguments.ControlPlanePatches); err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}

	if result.Worker, err = generateOne(input, machine.TypeWorker, arguments.Patches, arguments.WorkerPatches); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}

	client, err := input.Talosconfig()
	if err != nil {
		return nil, fmt.Errorf("talosconfig: %w", err)
	}

	text, err := client.Bytes()
	if err != nil {
		return nil, fmt.Errorf("talosconfig: %w", err)
	}

	result.Talosconfig = string(text)
	result.Secrets, err = encodeBundle(loaded)

	return result, err
}

func (arguments generateArguments) options(loaded *secrets.Bundle, contract *config.VersionContract) []generate.Option {
	options := []generate.Option{
		generate.WithSecretsBundle(loaded),
		generate.WithVersionContract(contract),
		generate.WithInstallDisk(arguments.InstallDisk),
		generate.WithInstallImage(arguments.InstallImage),
		generate.WithAdditionalSubjectAltNames(arguments.SubjectAlternativeNames),
		generate.WithAllowSchedulingOnControlPlanes(arguments.ScheduleOnControlPlanes),
	}

	if arguments.CNI != "" {
		options = append(options, generate.WithClusterCNIConfig(&v1alpha1.CNIConfig{CNIName: arguments.CNI}))
	}

	if arguments.DNSDomain != "" {
		options = append(options, generate.WithDNSDomain(arguments.DNSDomain))
	}

	if arguments.Discovery != nil {
		options = append(options, generate.WithClusterDiscovery(*arguments.Discovery))
	}

	if arguments.LocalAPIServerPort != nil {
		options = append(options, generate.WithLocalAPIServerPort(*arguments.LocalAPIServerPort))
	}

	if arguments.KubePrismPort != nil {
		options = append(options, generate.WithKubePrismPort(*arguments.KubePrismPort))
	}

	for _, given := range arguments.RegistryMirrors {
		options = append(options, generate.WithRegistryMirror(given.Host, given.Endpoints...))
	}

	if arguments.Sysctls != nil {
		options = append(options, generate.WithSysctls(arguments.Sysctls))
	}

	return options
}

func generateOne(input *generate.Input, role machine.Type, common, own []string) (string, error) {
	provider, err := input.Config(role)
	if err != nil {
		return "", err
	}

	text, err := provider.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		return "", err
	}

	patches := append(append([]string{}, common...), own...)
	if len(patches) == 0 {
		return string(text), nil
	}

	patched, err := patchedBytes(text, patches)

	return string(patched), err
}

type bundleArguments struct {
	TalosVersion string  `json:"talos_version"`
	Secrets      *string `json:"secrets"`
}

type bundleResult struct {
	Secrets string `json:"secrets"`
}

// bundle makes a new secrets bundle, or loads and checks the given one.
func bundle(arguments bundleArguments) (any, error) {
	contract, err := contractOf(arguments.TalosVersion)
	if err != nil {
		return nil, err
	}

	loaded, err := loadOrNew(arguments.Secrets, contract)
	if err != nil {
		return nil, err
	}

	text, err := encodeBundle(loaded)

	return bundleResult{Secrets: text}, err
}

// contractOf is nil, the generator's own version, for an empty text.
func contractOf(version string) (*config.VersionContract, error) {
	if version == "" {
		return nil, nil
	}

	return config.ParseContractFromVersion(version)
}

func loadOrNew(text *string, contract *config.VersionContract) (*secrets.Bundle, error) {
	if text == nil {
		return secrets.NewBundle(secrets.NewClock(), contract)
	}

	loaded := &secrets.Bundle{Clock: secrets.NewClock()}

	if err := yaml.Unmarshal([]byte(*text), loaded); err != nil {
		return nil, err
	}

	if err := loaded.Validate(); err != nil {
		return nil, err
	}

	return loaded, nil
}

func encodeBundle(loaded *secrets.Bundle) (string, error) {
	text, err := yaml.Marshal(loaded)

	return string(text), err
}
