//! Released charts that the lab has fetched render byte for byte as the real Helm renders them.

use crate::lab::{Case, released};

const CILIUM: [&str; 3] = ["cilium-1.20.2", "cilium-1.19.7", "cilium-1.18.6"];

/// What the provider sets on Talos.
const TALOS: &str = "
kubeProxyReplacement: true
k8sServiceHost: localhost
k8sServicePort: 7445
cgroup: {autoMount: {enabled: false}, hostRoot: /sys/fs/cgroup}
ipam: {mode: kubernetes}
securityContext:
  capabilities:
    ciliumAgent: [CHOWN, KILL, NET_ADMIN, NET_RAW, IPC_LOCK, SYS_ADMIN, SYS_RESOURCE, DAC_OVERRIDE, FOWNER, SETGID, SETUID]
    cleanCiliumState: [NET_ADMIN, SYS_ADMIN, SYS_RESOURCE]
";

const PROFILES: [&str; 6] = [
    "{}",
    "hubble: {enabled: false}",
    "operator: {replicas: 1}\nhubble: {relay: {enabled: true}, ui: {enabled: true}, tls: {auto: {method: cronJob}}}",
    "
operator: {replicas: 2, prometheus: {enabled: true, serviceMonitor: {enabled: true, trustCRDsExist: true}}}
prometheus: {enabled: true, serviceMonitor: {enabled: true, trustCRDsExist: true}}
gatewayAPI: {enabled: true}
ingressController: {enabled: true, loadbalancerMode: shared, default: true}
l2announcements: {enabled: true}
bgpControlPlane: {enabled: true}
encryption: {enabled: true, type: wireguard}
hubble: {enabled: true, metrics: {enabled: [dns, drop, 'flow:sourceContext=pod']}}
",
    "
clustermesh: {useAPIServer: true, config: {enabled: true, clusters: [{name: b, ips: [10.0.0.1]}]}}
cluster: {name: a, id: 1}
envoy: {enabled: false}
tunnelProtocol: geneve
ipv6: {enabled: true}
podAnnotations: {a: '1', b: 'true'}
tolerations: [{operator: Exists}]
extraConfig: {x-y: 'z'}
",
    "
authentication: {enabled: true, mutual: {spire: {enabled: true, install: {enabled: true}}}}
hubble: {tls: {auto: {method: helm}}, relay: {enabled: true, tls: {server: {enabled: true}}}}
resources: {limits: {cpu: 500m, memory: 1.5Gi}}
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b, 'on', '1e3']}]}]}}}
",
];

#[test]
fn cilium_renders_as_helm_renders_it() {
    for profile in PROFILES {
        Case::of(released(CILIUM[0])).values(profile).agrees().expect(profile);
    }
}

#[test]
fn older_ciliums_render_as_helm_renders_them() {
    for chart in &CILIUM[1..] {
        for profile in [PROFILES[0], PROFILES[3]] {
            Case::of(released(chart)).values(profile).agrees().expect(profile);
        }
    }
}

#[test]
fn cilium_for_talos_renders_as_helm_renders_it() {
    for chart in CILIUM {
        for profile in [PROFILES[1], PROFILES[2]] {
            let case = Case {
                kube_version: Some("v1.36.3".to_owned()),
                api_versions: vec!["gateway.networking.k8s.io/v1/GatewayClass".to_owned()],
                is_upgrade: true,
                ..Case::of(released(chart)).values(TALOS).values(profile)
            };
            case.agrees().expect(profile);
        }
    }
}

#[test]
fn cilium_refuses_values_in_the_same_words() {
    for (set, words) in [
        (
            "kubeProxyReplacement=partial",
            "execution error at (cilium/templates/cilium-configmap.yaml:77:5): kubeProxyReplacement",
        ),
        ("cluster.id=9999", "cannot use default value with cluster.id != 0"),
        (
            "cluster.name=UPPER_CASE",
            "execution error at (cilium/templates/validate.yaml:159:5): The cluster name",
        ),
        ("upgradeCompatibility=x", "error calling semverCompare: invalid semantic version"),
    ] {
        let error = Case::of(released(CILIUM[0])).set(set).agrees().expect_err(set);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn cert_manager_renders_as_helm_renders_it() {
    for values in [
        "{}",
        "crds: {enabled: true}",
        "crds: {enabled: true}\nstartupapicheck: {enabled: false}\nprometheus: {enabled: false}",
        "
crds: {enabled: true, keep: false}
config: {apiVersion: controller.config.cert-manager.io/v1alpha1, kind: ControllerConfiguration, gatewayAPI: {enable: true}, logging: {verbosity: 2}}
replicaCount: 3
webhook: {replicaCount: 2, networkPolicy: {enabled: true}, hostNetwork: true}
podDisruptionBudget: {enabled: true, minAvailable: 50%}
prometheus: {servicemonitor: {enabled: true}}
global: {commonLabels: {a: b}, imagePullSecrets: [{name: x}], priorityClassName: high}
extraArgs: [--v=5, '--x={{ .Release.Name }}']
tolerations: [{key: a, operator: Exists}]
",
    ] {
        Case::of(released("cert-manager-v1.21.2")).values(values).agrees().expect(values);
    }
}

#[test]
fn cert_manager_refuses_values_that_break_its_schema() {
    let error = Case::of(released("cert-manager-v1.21.2")).set("replicaCount=many").both_refuse();
    assert!(error.contains("- at '/replicaCount': "), "{error}");
}
