package main

import (
	"context"
	"errors"
	"net/netip"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/extensions"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	resourcetime "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"google.golang.org/protobuf/types/known/emptypb"
)

// populate creates one resource of each kind that discovery reads.
func populate(ctx context.Context, resources state.State, configured bool) error {
	version := runtime.NewVersion()
	version.TypedSpec().Version = "v1.13.9"

	status := runtime.NewMachineStatus()
	status.TypedSpec().Stage = runtime.MachineStageMaintenance

	if configured {
		status.TypedSpec().Stage = runtime.MachineStageBooting
		status.TypedSpec().Status.UnmetConditions = []runtime.UnmetCondition{{Name: "services", Reason: "etcd not running"}}
	}

	security := runtime.NewSecurityStateSpec(runtime.NamespaceName)
	security.TypedSpec().SecureBoot = true

	extension := runtime.NewExtensionStatus(runtime.NamespaceName, "0")
	extension.TypedSpec().Metadata = extensions.Metadata{Name: "schematic", Version: "0123456789abcdef"}

	system := hardware.NewSystemInformation(hardware.SystemInformationID)
	system.TypedSpec().UUID = "4c4c4544-0044-4810-8031-b9c04f4d3733"
	system.TypedSpec().SerialNumber = "D1H0O33"

	processor := hardware.NewProcessorInfo("CPU-0")
	processor.TypedSpec().CoreCount = 8

	memory := hardware.NewMemoryModuleInfo("DIMM-0")
	memory.TypedSpec().Size = 16384

	link := network.NewLinkStatus(network.NamespaceName, "eth0")
	link.TypedSpec().Type = nethelpers.LinkEther
	link.TypedSpec().HardwareAddr = nethelpers.HardwareAddr{2, 0, 0, 0, 0, 1}

	loopback := network.NewLinkStatus(network.NamespaceName, "lo")
	loopback.TypedSpec().Type = nethelpers.LinkLoopbck

	synchronised := resourcetime.NewStatus()
	synchronised.TypedSpec().Synced = true

	all := []resource.Resource{
		version, status, security, extension, system, processor, memory, link, loopback, synchronised,
		address("10.0.0.11/24", nethelpers.ScopeGlobal),
		address("fe80::1/64", nethelpers.ScopeLink),
		address("2001:db8::11/64", nethelpers.ScopeGlobal),
		disk("sda", "sata", 64<<30),
		disk("loop0", "", 1<<20),
		volume("sda", "", "gpt", ""),
		volume("sda1", "sda", "ext4", "data"),
	}

	var err error
	for _, each := range all {
		err = errors.Join(err, resources.Create(ctx, each))
	}

	return err
}

func address(prefix string, scope nethelpers.Scope) resource.Resource {
	status := network.NewAddressStatus(network.NamespaceName, "eth0/"+prefix)
	status.TypedSpec().Address = netip.MustParsePrefix(prefix)
	status.TypedSpec().LinkName = "eth0"
	status.TypedSpec().Scope = scope

	return status
}

func disk(name, transport string, size uint64) resource.Resource {
	status := block.NewDisk(block.NamespaceName, name)
	status.TypedSpec().SetSize(size)
	status.TypedSpec().DevPath = "/dev/" + name
	status.TypedSpec().Transport = transport
	status.TypedSpec().Model = "EXAMPLE"
	status.TypedSpec().Serial = "S1"
	status.TypedSpec().Rotational = true

	return status
}

func volume(name, parent, content, label string) resource.Resource {
	status := block.NewDiscoveredVolume(block.NamespaceName, name)
	status.TypedSpec().Name = content
	status.TypedSpec().Parent = parent
	status.TypedSpec().PartitionLabel = label

	return status
}

// service serves what the tests call; everything else is Unimplemented, as gRPC says it.
type service struct {
	machine.UnimplementedMachineServiceServer

	state state.State
}

// Reboot changes the stage, so that a watcher sees it.
func (service *service) Reboot(ctx context.Context, _ *machine.RebootRequest) (*machine.RebootResponse, error) {
	_, err := safe.StateUpdateWithConflicts(ctx, service.state, runtime.NewMachineStatus().Metadata(), func(status *runtime.MachineStatus) error {
		status.TypedSpec().Stage = runtime.MachineStageRebooting

		return nil
	})

	return &machine.RebootResponse{Messages: []*machine.Reboot{{}}}, err
}

// ServiceList names one service.
func (*service) ServiceList(context.Context, *emptypb.Empty) (*machine.ServiceListResponse, error) {
	services := []*machine.ServiceInfo{{
		Id:     "etcd",
		State:  "Preparing",
		Health: &machine.ServiceHealth{Unknown: true},
		Events: &machine.ServiceEvents{Events: []*machine.ServiceEvent{{Msg: "Running pre state", State: "Preparing"}}},
	}}

	return &machine.ServiceListResponse{Messages: []*machine.ServiceList{{Services: services}}}, nil
}
