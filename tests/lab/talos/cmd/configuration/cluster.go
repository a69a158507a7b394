package main

import (
	"encoding/json"
	"net/netip"

	"github.com/siderolabs/talos/pkg/machinery/config"
	core "github.com/siderolabs/talos/pkg/machinery/config/config"
	"go.yaml.in/yaml/v4"
)

type clusterView struct {
	ID                        string           `json:"id"`
	Secret                    string           `json:"secret"`
	Name                      string           `json:"name"`
	Endpoint                  string           `json:"endpoint"`
	LocalAPIServerPort        int              `json:"local_api_server_port"`
	Token                     *token           `json:"token"`
	CA                        *authority       `json:"ca"`
	AcceptedCAs               []string         `json:"accepted_cas"`
	AggregatorCA              *authority       `json:"aggregator_ca"`
	ServiceAccount            *key             `json:"service_account"`
	AESCBCEncryptionSecret    string           `json:"aescbc_encryption_secret"`
	SecretboxEncryptionSecret string           `json:"secretbox_encryption_secret"`
	CertSANs                  []string         `json:"cert_sans"`
	APIServer                 apiServer        `json:"api_server"`
	ControllerManager         component        `json:"controller_manager"`
	Scheduler                 component        `json:"scheduler"`
	Proxy                     proxy            `json:"proxy"`
	Etcd                      etcd             `json:"etcd"`
	Network                   network          `json:"network"`
	CoreDNSEnabled            bool             `json:"core_dns_enabled"`
	CoreDNSImage              string           `json:"core_dns_image"`
	InlineManifests           []inlineManifest `json:"inline_manifests"`
	ExtraManifestURLs         []string         `json:"extra_manifest_urls"`
	AdminCertificateSeconds   uint64           `json:"admin_certificate_seconds"`
	ScheduleOnControlPlanes   bool             `json:"schedule_on_control_planes"`
	ExternalCloudProvider     bool             `json:"external_cloud_provider"`
	Discovery                 discovery        `json:"discovery"`
}

type token struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

type key struct {
	Key string `json:"key"`
}

type apiServer struct {
	Image            string              `json:"image"`
	ExtraArguments   map[string][]string `json:"extra_arguments"`
	Environment      map[string]string   `json:"environment"`
	AdmissionControl []admissionPlugin   `json:"admission_control"`
	AuditPolicy      map[string]any      `json:"audit_policy"`
	Authorization    []map[string]any    `json:"authorization"`
}

type admissionPlugin struct {
	Name          string         `json:"name"`
	Configuration map[string]any `json:"configuration"`
}

type component struct {
	Image          string              `json:"image"`
	ExtraArguments map[string][]string `json:"extra_arguments"`
	Environment    map[string]string   `json:"environment"`
	Configuration  map[string]any      `json:"configuration"`
	Disabled       bool                `json:"disabled"`
}

type proxy struct {
	Enabled bool   `json:"enabled"`
	Image   string `json:"image"`
	Mode    string `json:"mode"`
}

type etcd struct {
	CA                *authority          `json:"ca"`
	Image             string              `json:"image"`
	ExtraArguments    map[string][]string `json:"extra_arguments"`
	AdvertisedSubnets []string            `json:"advertised_subnets"`
}

type network struct {
	CNI            string   `json:"cni"`
	PodSubnets     []string `json:"pod_subnets"`
	ServiceSubnets []string `json:"service_subnets"`
	DNSDomain      string   `json:"dns_domain"`
	APIServerIPs   []string `json:"api_server_ips"`
	DNSServiceIPs  []string `json:"dns_service_ips"`
}

type inlineManifest struct {
	Name     string `json:"name"`
	Contents string `json:"contents"`
}

type discovery struct {
	Enabled         bool   `json:"enabled"`
	ServiceEnabled  bool   `json:"service_enabled"`
	ServiceEndpoint string `json:"service_endpoint"`
}

func clusterOf(provider config.Provider) clusterView {
	section := provider.Cluster()
	view := clusterView{
		ID:                        section.ID(),
		Secret:                    section.Secret(),
		Name:                      section.Name(),
		Endpoint:                  section.Endpoint().String(),
		LocalAPIServerPort:        section.LocalAPIServerPort(),
		CA:                        authorityOf(section.IssuingCA()),
		AcceptedCAs:               acceptedOf(section.AcceptedCAs()),
		AggregatorCA:              authorityOf(section.AggregatorCA()),
		AESCBCEncryptionSecret:    section.AESCBCEncryptionSecret(),
		SecretboxEncryptionSecret: section.SecretboxEncryptionSecret(),
		CertSANs:                  list(section.CertSANs()),
		APIServer:                 apiServerOf(section.APIServer()),
		Proxy: proxy{
			Enabled: section.Proxy().Enabled(), Image: section.Proxy().Image(), Mode: section.Proxy().Mode(),
		},
		Etcd: etcd{
			CA:                authorityOf(section.Etcd().CA()),
			Image:             section.Etcd().Image(),
			ExtraArguments:    arguments(section.Etcd().ExtraArgs()),
			AdvertisedSubnets: list(section.Etcd().AdvertisedSubnets()),
		},
		CoreDNSEnabled:          section.CoreDNS().Enabled(),
		CoreDNSImage:            section.CoreDNS().Image(),
		InlineManifests:         []inlineManifest{},
		ExtraManifestURLs:       list(section.ExtraManifestURLs()),
		AdminCertificateSeconds: uint64(section.AdminKubeconfig().CertLifetime().Seconds()),
		ScheduleOnControlPlanes: section.ScheduleOnControlPlanes(),
		ExternalCloudProvider:   section.ExternalCloudProvider().Enabled(),
		Discovery: discovery{
			Enabled:         section.Discovery().Enabled(),
			ServiceEnabled:  section.Discovery().Registries().Service().Enabled(),
			ServiceEndpoint: section.Discovery().Registries().Service().Endpoint(),
		},
	}

	if section.Token().ID() != "" || section.Token().Secret() != "" {
		view.Token = &token{ID: section.Token().ID(), Secret: section.Token().Secret()}
	}

	if account := section.ServiceAccount(); account != nil {
		view.ServiceAccount = &key{Key: string(account.Key)}
	}

	for _, manifest := range section.InlineManifests() {
		view.InlineManifests = append(view.InlineManifests, inlineManifest{Name: manifest.Name(), Contents: manifest.Contents()})
	}

	view.ControllerManager = component{
		Image:          section.ControllerManager().Image(),
		ExtraArguments: arguments(section.ControllerManager().ExtraArgs()),
		Environment:    table(section.ControllerManager().Env()),
		Configuration:  map[string]any{},
		Disabled:       provider.Machine().Controlplane().ControllerManager().Disabled(),
	}
	view.Scheduler = component{
		Image:          section.Scheduler().Image(),
		ExtraArguments: arguments(section.Scheduler().ExtraArgs()),
		Environment:    table(section.Scheduler().Env()),
		Configuration:  table(section.Scheduler().Config()),
		Disabled:       provider.Machine().Controlplane().Scheduler().Disabled(),
	}

	view.Network = networkOf(section.Network())

	return view
}

func apiServerOf(section core.APIServer) apiServer {
	view := apiServer{
		Image:            section.Image(),
		ExtraArguments:   arguments(section.ExtraArgs()),
		Environment:      table(section.Env()),
		AdmissionControl: []admissionPlugin{},
		AuditPolicy:      table(section.AuditPolicy()),
		Authorization:    []map[string]any{},
	}

	for _, plugin := range section.AdmissionControl() {
		view.AdmissionControl = append(view.AdmissionControl, admissionPlugin{
			Name: plugin.Name(), Configuration: table(plugin.Configuration()),
		})
	}

	for _, authorizer := range section.AuthorizationConfig() {
		entry := map[string]any{"type": authorizer.Type(), "name": authorizer.Name()}
		if webhook := authorizer.Webhook(); len(webhook) > 0 {
			entry["webhook"] = webhook
		}

		view.Authorization = append(view.Authorization, entry)
	}

	return view
}

// networkOf derives the addresses of Services only from subnets that can be parsed: Talos' validator doesn't look at
// them, and a machine fails later.
func networkOf(section core.ClusterNetwork) network {
	view := network{
		CNI:            section.CNI().Name(),
		PodSubnets:     list(section.PodCIDRs()),
		ServiceSubnets: list(section.ServiceCIDRs()),
		DNSDomain:      section.DNSDomain(),
		APIServerIPs:   []string{},
		DNSServiceIPs:  []string{},
	}

	if addresses, err := section.APIServerIPs(); err == nil {
		view.APIServerIPs = texts(addresses)
	}

	if addresses, err := section.DNSServiceIPs(); err == nil {
		view.DNSServiceIPs = texts(addresses)
	}

	return view
}

func texts(addresses []netip.Addr) []string {
	all := []string{}

	for _, address := range addresses {
		all = append(all, address.String())
	}

	return all
}

// asTable turns a part of the configuration into a table with the keys of its YAML form.
func asTable(part any) (map[string]any, error) {
	text, err := yaml.Marshal(part)
	if err != nil {
		return nil, err
	}

	var values map[string]any

	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, err
	}

	// A value that JSON can't hold is found here, with its reason.
	_, err = json.Marshal(values)

	return values, err
}
