package main

import (
	"strings"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config"
	core "github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
)

// The view of a configuration: what a node needs to know of it, as JSON.

type decoded struct {
	CompleteForBoot bool           `json:"complete_for_boot"`
	Documents       []document     `json:"documents"`
	Configuration   *configuration `json:"configuration"`
}

type document struct {
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

type configuration struct {
	Machine   machineView `json:"machine"`
	Cluster   clusterView `json:"cluster"`
	Documents []document  `json:"documents"`
}

type machineView struct {
	Type             string            `json:"type"`
	Token            string            `json:"token"`
	CA               *authority        `json:"ca"`
	AcceptedCAs      []string          `json:"accepted_cas"`
	CertSANs         []string          `json:"cert_sans"`
	Hostname         hostname          `json:"hostname"`
	Install          *install          `json:"install"`
	Kubelet          kubelet           `json:"kubelet"`
	NodeLabels       map[string]string `json:"node_labels"`
	NodeAnnotations  map[string]string `json:"node_annotations"`
	NodeTaints       map[string]string `json:"node_taints"`
	Addresses        []string          `json:"addresses"`
	VirtualAddresses []string          `json:"virtual_addresses"`
	KubePrismPort    *int              `json:"kube_prism_port"`
	TimeSyncDisabled bool              `json:"time_sync_disabled"`
	TimeServers      []string          `json:"time_servers"`
}

type hostname struct {
	Fixed  *string `json:"fixed"`
	Stable bool    `json:"stable"`
}

type install struct {
	Disk            string         `json:"disk"`
	DiskMatch       *string        `json:"disk_match"`
	DiskSelector    map[string]any `json:"disk_selector"`
	Image           string         `json:"image"`
	Wipe            bool           `json:"wipe"`
	ExtraKernelArgs []string       `json:"extra_kernel_args"`
}

type kubelet struct {
	Image                string              `json:"image"`
	ExtraArguments       map[string][]string `json:"extra_arguments"`
	ExtraConfiguration   map[string]any      `json:"extra_configuration"`
	NodeIPValidSubnets   []string            `json:"node_ip_valid_subnets"`
	RegisterWithFQDN     bool                `json:"register_with_fqdn"`
	SkipNodeRegistration bool                `json:"skip_node_registration"`
	ClusterDNS           []string            `json:"cluster_dns"`
}

type authority struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// viewOf sees all of a configuration that has both sections; without them there is nothing to boot with.
func viewOf(provider config.Provider) (decoded, error) {
	result := decoded{CompleteForBoot: provider.CompleteForBoot(), Documents: []document{}}

	for _, found := range provider.Documents() {
		identity := document{APIVersion: found.APIVersion(), Kind: found.Kind()}
		if identity.Kind == "v1alpha1" || identity.APIVersion == "" {
			identity = document{APIVersion: "v1alpha1"}
		}

		if named, ok := found.(core.NamedDocument); ok {
			identity.Name = named.Name()
		}

		result.Documents = append(result.Documents, identity)
	}

	raw := provider.RawV1Alpha1()
	if raw == nil || raw.MachineConfig == nil || raw.ClusterConfig == nil || raw.ClusterConfig.ControlPlane == nil ||
		raw.ClusterConfig.ControlPlane.Endpoint == nil || provider.Machine().Type() == machine.TypeUnknown {
		return result, nil
	}

	machineSection, err := machineOf(provider)
	if err != nil {
		return result, err
	}

	result.Configuration = &configuration{
		Machine: machineSection, Cluster: clusterOf(provider), Documents: result.Documents,
	}

	return result, nil
}

func machineOf(provider config.Provider) (machineView, error) {
	section := provider.Machine()
	view := machineView{
		Type:             section.Type().String(),
		Token:            section.Security().Token(),
		CA:               authorityOf(section.Security().IssuingCA()),
		AcceptedCAs:      acceptedOf(section.Security().AcceptedCAs()),
		CertSANs:         list(section.Security().CertSANs()),
		Hostname:         hostnameOf(provider.NetworkHostnameConfig()),
		Kubelet:          kubeletOf(section.Kubelet()),
		NodeLabels:       table(section.NodeLabels()),
		NodeAnnotations:  table(section.NodeAnnotations()),
		NodeTaints:       table(section.NodeTaints()),
		Addresses:        []string{},
		VirtualAddresses: []string{},
		TimeServers:      []string{},
	}

	if section.Features().KubePrism().Enabled() {
		port := section.Features().KubePrism().Port()
		view.KubePrismPort = &port
	}

	if sync := provider.NetworkTimeSyncConfig(); sync != nil {
		view.TimeSyncDisabled = sync.Disabled()
		view.TimeServers = list(sync.Servers())
	}

	view.Addresses, view.VirtualAddresses = addressesOf(provider)

	chosen, err := installOf(provider)
	view.Install = chosen

	return view, err
}

func hostnameOf(named core.NetworkHostnameConfig) hostname {
	if named == nil {
		return hostname{}
	}

	view := hostname{Stable: named.AutoHostname() == nethelpers.AutoHostnameKindStable}
	if name := named.Hostname(); name != "" {
		view.Fixed = &name
	}

	return view
}

func addressesOf(provider config.Provider) (addresses, virtual []string) {
	addresses, virtual = []string{}, []string{}

	for _, device := range provider.Machine().Network().Devices() {
		addresses = append(addresses, device.Addresses()...)

		if shared := device.VIPConfig(); shared != nil {
			virtual = append(virtual, shared.IP())
		}

		for _, vlan := range device.Vlans() {
			addresses = append(addresses, vlan.Addresses()...)

			if shared := vlan.VIPConfig(); shared != nil {
				virtual = append(virtual, shared.IP())
			}
		}
	}

	for _, link := range provider.NetworkCommonLinkConfigs() {
		for _, given := range link.Addresses() {
			addresses = append(addresses, given.Address().String())
		}
	}

	for _, shared := range provider.NetworkVirtualIPConfigs() {
		virtual = append(virtual, shared.VIP().String())
	}

	return addresses, virtual
}

func installOf(provider config.Provider) (*install, error) {
	raw := provider.RawV1Alpha1().MachineConfig.MachineInstall
	if raw == nil {
		return nil, nil
	}

	view := &install{
		Disk:            raw.Disk(),
		Image:           raw.Image(),
		Wipe:            raw.Zero(),
		ExtraKernelArgs: list(raw.ExtraKernelArgs()),
	}

	expression, err := raw.DiskMatchExpression()
	if err != nil || expression == nil {
		return view, err
	}

	match := expression.String()
	view.DiskMatch = &match
	view.DiskSelector, err = asTable(raw.InstallDiskSelector)

	return view, err
}

func kubeletOf(section core.Kubelet) kubelet {
	return kubelet{
		Image:                section.Image(),
		ExtraArguments:       arguments(section.ExtraArgs()),
		ExtraConfiguration:   table(section.ExtraConfig()),
		NodeIPValidSubnets:   list(section.NodeIP().ValidSubnets()),
		RegisterWithFQDN:     section.RegisterWithFQDN(),
		SkipNodeRegistration: section.SkipNodeRegistration(),
		ClusterDNS:           list(section.ClusterDNS()),
	}
}

func authorityOf(pair *x509.PEMEncodedCertificateAndKey) *authority {
	if pair == nil {
		return nil
	}

	return &authority{Certificate: string(pair.Crt), Key: string(pair.Key)}
}

func acceptedOf(pairs []*x509.PEMEncodedCertificate) []string {
	accepted := []string{}

	for _, pair := range pairs {
		accepted = append(accepted, strings.TrimSpace(string(pair.Crt))+"\n")
	}

	return accepted
}

// list is never null in JSON.
func list(values []string) []string {
	return append([]string{}, values...)
}

// table is never null in JSON.
func table[M ~map[string]V, V any](values M) map[string]V {
	if values == nil {
		return map[string]V{}
	}

	return values
}

// arguments has no null lists: an argument given as an empty text has one empty value.
func arguments(values map[string][]string) map[string][]string {
	all := map[string][]string{}

	for name, given := range values {
		all[name] = list(given)
	}

	return all
}
