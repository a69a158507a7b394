package main

import (
	"context"
	"fmt"
	"reflect"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configdiff"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block/blockhelpers"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
)

type decodeArguments struct {
	Configuration []byte `json:"configuration"`
}

func decode(arguments decodeArguments) (any, error) {
	provider, err := configloader.NewFromBytes(arguments.Configuration)
	if err != nil {
		return nil, err
	}

	return viewOf(provider)
}

type validateArguments struct {
	Configuration []byte `json:"configuration"`
	// Installed says that Talos is on a disk already.
	Installed bool `json:"installed"`
	// Disks are the machine's; with them the checks are made that only a machine can make.
	Disks *[]disk `json:"disks"`
}

type disk struct {
	DevicePath string `json:"device_path"`
	SizeBytes  uint64 `json:"size_bytes"`
	Model      string `json:"model"`
	Serial     string `json:"serial"`
	Modalias   string `json:"modalias"`
	UUID       string `json:"uuid"`
	WWID       string `json:"wwid"`
	BusPath    string `json:"bus_path"`
	Transport  string `json:"transport"`
	Rotational bool   `json:"rotational"`
	ReadOnly   bool   `json:"read_only"`
	CDROM      bool   `json:"cdrom"`
}

type validateResult struct {
	Warnings     []string `json:"warnings"`
	InstallDisks []string `json:"install_disks"`
}

// metal is the mode of machines of the platform `metal`.
type metal struct {
	installed bool
}

func (metal) String() string             { return "metal" }
func (mode metal) RequiresInstall() bool { return !mode.installed }
func (metal) InContainer() bool          { return false }

func validate(arguments validateArguments) (any, error) {
	provider, err := configloader.NewFromBytes(arguments.Configuration)
	if err != nil {
		return nil, err
	}

	mode := metal{installed: arguments.Installed}

	warnings, err := provider.Validate(mode)
	if err != nil {
		return nil, err
	}

	result := validateResult{Warnings: append([]string{}, warnings...), InstallDisks: []string{}}
	if arguments.Disks == nil {
		return result, nil
	}

	ctx := context.Background()

	resources, err := stateOf(ctx, *arguments.Disks)
	if err != nil {
		return nil, err
	}

	warnings, err = provider.RuntimeValidate(ctx, resources, mode)
	if err != nil {
		return nil, err
	}

	result.Warnings = append(result.Warnings, warnings...)
	result.InstallDisks, err = installDisks(ctx, resources, provider)

	return result, err
}

func stateOf(ctx context.Context, disks []disk) (state.State, error) {
	resources := state.WrapCore(namespaced.NewState(inmem.Build))

	for _, facts := range disks {
		resource := block.NewDisk(block.NamespaceName, facts.DevicePath)
		*resource.TypedSpec() = block.DiskSpec{
			DevPath:    facts.DevicePath,
			Size:       facts.SizeBytes,
			Model:      facts.Model,
			Serial:     facts.Serial,
			Modalias:   facts.Modalias,
			UUID:       facts.UUID,
			WWID:       facts.WWID,
			BusPath:    facts.BusPath,
			Transport:  facts.Transport,
			Rotational: facts.Rotational,
			Readonly:   facts.ReadOnly,
			CDROM:      facts.CDROM,
		}

		if err := resources.Create(ctx, resource); err != nil {
			return nil, fmt.Errorf("enter disk %s: %w", facts.DevicePath, err)
		}
	}

	return resources, nil
}

// installDisks are the device paths that the configuration's install section chooses, in the order of the disks.
func installDisks(ctx context.Context, resources state.State, provider config.Provider) ([]string, error) {
	if provider.Machine() == nil || provider.Machine().Install() == nil {
		return []string{}, nil
	}

	expression, err := provider.Machine().Install().DiskMatchExpression()
	if err != nil {
		return nil, err
	}

	if expression == nil {
		if path := provider.Machine().Install().Disk(); path != "" {
			return []string{path}, nil
		}

		return []string{}, nil
	}

	matched, err := blockhelpers.MatchDisks(ctx, resources, expression)
	if err != nil {
		return nil, err
	}

	paths := []string{}

	for _, found := range matched {
		paths = append(paths, found.TypedSpec().DevPath)
	}

	return paths, nil
}

type patchArguments struct {
	Configuration []byte   `json:"configuration"`
	Patches       []string `json:"patches"`
}

type patchResult struct {
	Configuration []byte `json:"configuration"`
}

func patch(arguments patchArguments) (any, error) {
	patched, err := patchedBytes(arguments.Configuration, arguments.Patches)
	if err != nil {
		return nil, err
	}

	return patchResult{Configuration: patched}, nil
}

func patchedBytes(configuration []byte, patches []string) ([]byte, error) {
	loaded, err := configpatcher.LoadPatches(patches)
	if err != nil {
		return nil, err
	}

	output, err := configpatcher.Apply(configpatcher.WithBytes(configuration), loaded)
	if err != nil {
		return nil, err
	}

	return output.Bytes()
}

type differenceArguments struct {
	Configuration []byte `json:"configuration"`
	New           []byte `json:"new"`
}

type differenceResult struct {
	Apply     string `json:"apply"`
	Reason    string `json:"reason"`
	Text      string `json:"text"`
	Unchanged bool   `json:"unchanged"`
}

// difference says whether a running machine takes the new configuration without a reboot, by the rule of Talos 1.13
// and older: a list of fields may change live, and all extra documents.
func difference(arguments differenceArguments) (any, error) {
	current, err := configloader.NewFromBytes(arguments.Configuration)
	if err != nil {
		return nil, err
	}

	changed, err := configloader.NewFromBytes(arguments.New)
	if err != nil {
		return nil, err
	}

	text, err := configdiff.DiffConfigs(current, changed)
	if err != nil {
		return nil, err
	}

	result := differenceResult{Apply: "live", Text: text, Unchanged: text == ""}

	before, after := current.RawV1Alpha1(), changed.RawV1Alpha1()
	if before == nil || after == nil {
		return nil, fmt.Errorf("both configurations must have machine and cluster sections")
	}

	// What differs once every live field is taken back needs a reboot.
	remaining := withLiveFieldsOf(before, after)
	if reflect.DeepEqual(before, remaining) {
		return result, nil
	}

	rest, err := configdiff.DiffConfigs(container.NewV1Alpha1(before), container.NewV1Alpha1(remaining))
	if err != nil {
		return nil, err
	}

	result.Apply = "reboot"
	result.Reason = "this config change can't be applied in immediate mode\ndiff:\n" + rest

	return result, nil
}

func withLiveFieldsOf(current, changed *v1alpha1.Config) *v1alpha1.Config {
	merged := changed.DeepCopy()
	merged.ConfigDebug = current.ConfigDebug
	merged.ClusterConfig = current.ClusterConfig

	if merged.MachineConfig == nil || current.MachineConfig == nil {
		return merged
	}

	copyFields(reflect.ValueOf(merged.MachineConfig).Elem(), reflect.ValueOf(current.MachineConfig).Elem(), []string{
		"MachineCA", "MachineAcceptedCAs", "MachineTime", "MachineCertSANs", "MachineInstall", "MachineNetwork",
		"MachineSysfs", "MachineSysctls", "MachineLogging", "MachineControlPlane", "MachineKubelet", "MachineKernel",
		"MachineRegistries", "MachinePods", "MachineSeccompProfiles", "MachineNodeAnnotations", "MachineNodeLabels",
		"MachineNodeTaints",
	})

	if merged.MachineConfig.MachineFeatures == nil || current.MachineConfig.MachineFeatures == nil {
		return merged
	}

	features := reflect.ValueOf(merged.MachineConfig.MachineFeatures).Elem()
	copyFields(features, reflect.ValueOf(current.MachineConfig.MachineFeatures).Elem(), []string{
		"KubernetesTalosAPIAccessConfig", "KubePrismSupport", "HostDNSSupport", "ImageCacheSupport",
		"FeatureNodeAddressSortAlgorithm",
	})

	return merged
}

func copyFields(target, source reflect.Value, names []string) {
	for _, name := range names {
		target.FieldByName(name).Set(source.FieldByName(name))
	}
}
