package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	clusterapi "github.com/siderolabs/talos/pkg/machinery/api/cluster"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// arguments of the client's own functions.
type arguments struct {
	// Configuration, Mode and DryRun: apply.
	Configuration string `json:"configuration"`
	Mode          string `json:"mode"`
	DryRun        bool   `json:"dry_run"`
	// Stage: stage.
	Stage string `json:"stage"`
	// Graceful, Reboot and Partitions: reset.
	Graceful   bool     `json:"graceful"`
	Reboot     bool     `json:"reboot"`
	Partitions []string `json:"partitions"`
	// ControlPlanes, Workers and WaitSeconds: health.
	ControlPlanes []string `json:"control_planes"`
	Workers       []string `json:"workers"`
	WaitSeconds   int      `json:"wait_seconds"`
	// ID: logs.
	ID string `json:"id"`
	// Member: remove-member.
	Member uint64 `json:"member"`
}

// functions are the calls through Talos' own client.
var functions = map[string]func(context.Context, *machine, arguments) (any, error){
	"version": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		return message(m.talos.Version(ctx))
	},
	"versions":  one[*runtime.Version]("version"),
	"system":    one[*hardware.SystemInformation](hardware.SystemInformationID),
	"security":  one[*runtime.SecurityState](runtime.SecurityStateID),
	"status":    one[*runtime.MachineStatus](runtime.MachineStatusID),
	"disks":     all[*block.Disk](),
	"volumes":   all[*block.DiscoveredVolume](),
	"links":     all[*network.LinkStatus](),
	"addresses": all[*network.AddressStatus](),
	"services": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		return message(m.talos.ServiceList(ctx))
	},
	"apply": func(ctx context.Context, m *machine, a arguments) (any, error) {
		mode, ok := machineapi.ApplyConfigurationRequest_Mode_value[a.Mode]
		if !ok {
			return nil, fmt.Errorf("unknown mode %q", a.Mode)
		}

		return message(m.talos.ApplyConfiguration(ctx, &machineapi.ApplyConfigurationRequest{
			Data:   []byte(a.Configuration),
			Mode:   machineapi.ApplyConfigurationRequest_Mode(mode),
			DryRun: a.DryRun,
		}))
	},
	"bootstrap": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		return nil, m.talos.Bootstrap(ctx, &machineapi.BootstrapRequest{})
	},
	"kubeconfig": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		kubeconfig, err := m.talos.Kubeconfig(ctx)

		return string(kubeconfig), err
	},
	"members": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		return message(m.talos.EtcdMemberList(ctx, &machineapi.EtcdMemberListRequest{}))
	},
	"remove-member": func(ctx context.Context, m *machine, a arguments) (any, error) {
		return nil, m.talos.EtcdRemoveMemberByID(ctx, &machineapi.EtcdRemoveMemberByIDRequest{MemberId: a.Member})
	},
	"etcd-status": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		return message(m.talos.EtcdStatus(ctx))
	},
	"health": health,
	"stage":  stage,
	"reset": func(ctx context.Context, m *machine, a arguments) (any, error) {
		request := &machineapi.ResetRequest{Graceful: a.Graceful, Reboot: a.Reboot}
		for _, label := range a.Partitions {
			request.SystemPartitionsToWipe = append(request.SystemPartitionsToWipe, &machineapi.ResetPartitionSpec{Label: label, Wipe: true})
		}

		return nil, m.talos.ResetGeneric(ctx, request)
	},
	"reboot": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		return nil, m.talos.Reboot(ctx)
	},
	"dmesg": func(ctx context.Context, m *machine, _ arguments) (any, error) {
		stream, err := m.talos.Dmesg(ctx, false, false)
		if err != nil {
			return nil, err
		}

		var text strings.Builder

		for {
			data, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return text.String(), nil
			}

			if err != nil {
				return nil, err
			}

			text.Write(data.GetBytes())
		}
	},
}

// dispatch makes a call of the script.
func (m *machine) dispatch(ctx context.Context, next call) (any, error) {
	if strings.Contains(next.Name, "/") {
		return m.method(ctx, next)
	}

	function, ok := functions[next.Name]
	if !ok {
		return nil, fmt.Errorf("unknown call %q", next.Name)
	}

	var a arguments

	if len(next.Arguments) > 0 {
		if err := json.Unmarshal(next.Arguments, &a); err != nil {
			return nil, err
		}
	}

	return function(ctx, m, a)
}

// message is a reply as JSON.
func message[T proto.Message](reply T, err error) (any, error) {
	if err != nil {
		return nil, err
	}

	encoded, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(reply)

	return json.RawMessage(encoded), err
}

// one reads a resource.
func one[T generic.ResourceWithRD](id resource.ID) func(context.Context, *machine, arguments) (any, error) {
	return func(ctx context.Context, m *machine, _ arguments) (any, error) {
		found, err := safe.StateGetByID[T](ctx, m.talos.COSI, id)
		if err != nil {
			return nil, err
		}

		return found.Spec(), nil
	}
}

// all lists the resources of a kind by id.
func all[T generic.ResourceWithRD]() func(context.Context, *machine, arguments) (any, error) {
	return func(ctx context.Context, m *machine, _ arguments) (any, error) {
		list, err := safe.StateListAll[T](ctx, m.talos.COSI)
		if err != nil {
			return nil, err
		}

		found := map[string]any{}
		for item := range list.All() {
			found[item.Metadata().ID()] = item.Spec()
		}

		return found, nil
	}
}

// stage waits by a watch until the machine is in a stage, and answers the stages that it saw.
func stage(ctx context.Context, m *machine, a arguments) (any, error) {
	events := make(chan state.Event)

	pointer := resource.NewMetadata(runtime.NamespaceName, runtime.MachineStatusType, runtime.MachineStatusID, resource.VersionUndefined)
	if err := m.talos.COSI.Watch(ctx, pointer, events); err != nil {
		return nil, err
	}

	seen := []string{}

	for {
		select {
		case <-ctx.Done():
			return seen, ctx.Err()
		case event := <-events:
			if event.Type == state.Errored {
				return seen, event.Error
			}

			status, ok := event.Resource.(*runtime.MachineStatus)
			if !ok {
				continue
			}

			now := status.TypedSpec().Stage.String()
			seen = append(seen, now)

			if now == a.Stage {
				return seen, nil
			}
		}
	}
}

// health runs the cluster's health check and answers its messages.
func health(ctx context.Context, m *machine, a arguments) (any, error) {
	stream, err := m.talos.ClusterHealthCheck(ctx, time.Duration(a.WaitSeconds)*time.Second, &clusterapi.ClusterInfo{
		ControlPlaneNodes: a.ControlPlanes,
		WorkerNodes:       a.Workers,
	})
	if err != nil {
		return nil, err
	}

	messages := []string{}

	for {
		progress, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return messages, nil
		}

		if err != nil {
			return messages, err
		}

		messages = append(messages, progress.GetMessage())
	}
}
