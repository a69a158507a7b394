package main

import (
	"cmp"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/cri"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/files"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/kubeaccess"
	"github.com/siderolabs/talos/pkg/machinery/resources/kubespan"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/perf"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/resources/security"
	"github.com/siderolabs/talos/pkg/machinery/resources/siderolink"
	"github.com/siderolabs/talos/pkg/machinery/resources/time"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
)

// kind is a kind of resource as Talos defines it.
type kind struct {
	Type        string      `json:"type"`
	Display     string      `json:"display"`
	Namespace   string      `json:"namespace"`
	Aliases     []string    `json:"aliases"`
	Plain       bool        `json:"plain,omitempty"`
	Columns     [][2]string `json:"columns"`
	Sensitivity string      `json:"sensitivity,omitempty"`
}

// kinds are all kinds that a machine registers.
func kinds() ([]kind, error) {
	defined := []meta.ResourceWithRD{
		&block.Device{},
		&block.DiscoveredVolume{},
		&block.DiscoveryRefreshRequest{},
		&block.DiscoveryRefreshStatus{},
		&block.Disk{},
		&block.MountRequest{},
		&block.MountStatus{},
		&block.SwapStatus{},
		&block.Symlink{},
		&block.SystemDisk{},
		&block.UserDiskConfigStatus{},
		&block.VolumeConfig{},
		&block.VolumeLifecycle{},
		&block.VolumeMountRequest{},
		&block.VolumeMountStatus{},
		&block.VolumeStatus{},
		&block.ZswapStatus{},
		&cluster.Affiliate{},
		&cluster.Config{},
		&cluster.Identity{},
		&cluster.Info{},
		&cluster.Member{},
		&config.MachineConfig{},
		&config.MachineType{},
		&cri.ImageCacheConfig{},
		&cri.RegistriesConfig{},
		&cri.SeccompProfile{},
		&etcd.Config{},
		&etcd.Member{},
		&etcd.PKIStatus{},
		&etcd.Spec{},
		&files.EtcFileSpec{},
		&files.EtcFileStatus{},
		&hardware.MemoryModule{},
		&hardware.PCIDevice{},
		&hardware.PCIDriverRebindConfig{},
		&hardware.PCIDriverRebindStatus{},
		&hardware.PCRStatus{},
		&hardware.Processor{},
		&hardware.SystemInformation{},
		&k8s.APIServerConfig{},
		&k8s.AdmissionControlConfig{},
		&k8s.AuditPolicyConfig{},
		&k8s.AuthorizationConfig{},
		&k8s.BootstrapManifestsConfig{},
		&k8s.ConfigStatus{},
		&k8s.ControllerManagerConfig{},
		&k8s.Endpoint{},
		&k8s.ExtraManifestsConfig{},
		&k8s.KubePrismConfig{},
		&k8s.KubePrismEndpoints{},
		&k8s.KubePrismStatuses{},
		&k8s.KubeletConfig{},
		&k8s.KubeletKubeconfig{},
		&k8s.KubeletLifecycle{},
		&k8s.KubeletSpec{},
		&k8s.ManifestStatus{},
		&k8s.Manifest{},
		&k8s.NodeAnnotationSpec{},
		&k8s.NodeCordonedSpec{},
		&k8s.NodeIPConfig{},
		&k8s.NodeIP{},
		&k8s.NodeLabelSpec{},
		&k8s.NodeStatus{},
		&k8s.NodeTaintSpec{},
		&k8s.Nodename{},
		&k8s.SchedulerConfig{},
		&k8s.SecretsStatus{},
		&k8s.StaticPodServerStatus{},
		&k8s.StaticPodStatus{},
		&k8s.StaticPod{},
		&kubeaccess.Config{},
		&kubespan.Config{},
		&kubespan.Endpoint{},
		&kubespan.Identity{},
		&kubespan.PeerSpec{},
		&kubespan.PeerStatus{},
		&network.AddressSpec{},
		&network.AddressStatus{},
		&network.DNSResolveCache{},
		&network.DNSUpstream{},
		&network.DeviceConfigSpec{},
		&network.EthernetSpec{},
		&network.EthernetStatus{},
		&network.HardwareAddr{},
		&network.HostDNSConfig{},
		&network.HostnameSpec{},
		&network.HostnameStatus{},
		&network.LinkAliasSpec{},
		&network.LinkRefresh{},
		&network.LinkSpec{},
		&network.LinkStatus{},
		&network.NfTablesChain{},
		&network.NodeAddressFilter{},
		&network.NodeAddressSortAlgorithm{},
		&network.NodeAddress{},
		&network.OperatorSpec{},
		&network.PlatformConfig{},
		&network.ProbeSpec{},
		&network.ProbeStatus{},
		&network.ResolverSpec{},
		&network.ResolverStatus{},
		&network.RouteSpec{},
		&network.RouteStatus{},
		&network.RoutingRuleSpec{},
		&network.RoutingRuleStatus{},
		&network.Status{},
		&network.TimeServerSpec{},
		&network.TimeServerStatus{},
		&perf.CPU{},
		&perf.Memory{},
		&runtime.APIServiceConfig{},
		&runtime.BootedEntry{},
		&runtime.DevicesStatus{},
		&runtime.Diagnostic{},
		&runtime.Environment{},
		&runtime.EventSinkConfig{},
		&runtime.ExtensionServiceConfigStatus{},
		&runtime.ExtensionServiceConfig{},
		&runtime.ExtensionStatus{},
		&runtime.KernelCmdline{},
		&runtime.KernelModuleSpec{},
		&runtime.KernelParamDefaultSpec{},
		&runtime.KernelParamSpec{},
		&runtime.KernelParamStatus{},
		&runtime.KmsgLogConfig{},
		&runtime.LoadedKernelModule{},
		&runtime.MachineResetSignal{},
		&runtime.MachineStatus{},
		&runtime.MaintenanceServiceConfig{},
		&runtime.MaintenanceServiceRequest{},
		&runtime.MetaKey{},
		&runtime.MetaLoaded{},
		&runtime.MountStatus{},
		&runtime.OOMAction{},
		&runtime.PlatformMetadata{},
		&runtime.SBOMItem{},
		&runtime.SecurityState{},
		&runtime.ServicePID{},
		&runtime.UniqueMachineToken{},
		&runtime.Version{},
		&runtime.WatchdogTimerConfig{},
		&runtime.WatchdogTimerStatus{},
		&secrets.API{},
		&secrets.CertSAN{},
		&secrets.EncryptionSalt{},
		&secrets.EtcdRoot{},
		&secrets.Etcd{},
		&secrets.Kubelet{},
		&secrets.KubernetesDynamicCerts{},
		&secrets.KubernetesRoot{},
		&secrets.Kubernetes{},
		&secrets.MaintenanceRoot{},
		&secrets.OSRoot{},
		&secrets.Trustd{},
		&security.ImageVerificationRule{},
		&security.TUFTrustedRoot{},
		&siderolink.Config{},
		&siderolink.Status{},
		&siderolink.Tunnel{},
		&time.AdjtimeStatus{},
		&time.Status{},
		&v1alpha1.AcquireConfigSpec{},
		&v1alpha1.AcquireConfigStatus{},
		&v1alpha1.Service{},
		&meta.Namespace{},
		&meta.ResourceDefinition{},
	}

	found := make([]kind, 0, len(defined))

	for _, one := range defined {
		// What a machine registers: the definition with the aliases that are derived from it.
		registered, err := meta.NewResourceDefinition(one.ResourceDefinition())
		if err != nil {
			return nil, err
		}

		definition := registered.TypedSpec()
		next := kind{
			Type:        definition.Type,
			Display:     definition.DisplayType,
			Namespace:   definition.DefaultNamespace,
			Aliases:     definition.Aliases,
			Plain:       definition.SkipAutomaticAliases,
			Columns:     [][2]string{},
			Sensitivity: string(definition.Sensitivity),
		}

		for _, column := range definition.PrintColumns {
			next.Columns = append(next.Columns, [2]string{column.Name, column.JSONPath})
		}

		found = append(found, next)
	}

	slices.SortFunc(found, func(a, b kind) int { return cmp.Compare(a.Type, b.Type) })

	return found, nil
}
