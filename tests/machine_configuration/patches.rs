//! Patches that are tried on ours and on Talos' patcher.

/// Sets of patches that Talos applies, each onto a freshly generated configuration.
pub(crate) const APPLIED: &[&[&str]] = &[
    &["machine: {sysctls: {net.a10: 1, net.a9: true, b: x, c: ~}}"],
    &["machine: {sysctls: {a: x}}", "machine: {sysctls: {a: '', b: y}}"],
    &["machine: {certSANs: [a, b]}", "machine: {certSANs: [b, c]}"],
    &["machine: {certSANs: []}"],
    &[
        "machine: {install: {disk: /dev/vda, wipe: yes, extraKernelArgs: [console=ttyS0], bootloader: true, legacyBIOSSupport: off}}",
    ],
    &[
        "machine: {install: {disk: '', diskSelector: {size: '>= 100GB', type: ssd, model: 'WD*', serial: '123'}}}",
    ],
    &["machine: {install: {disk: {$patch: delete}}}"],
    &["machine: {install: {$patch: delete}}"],
    &["machine: {nodeLabels: {$patch: delete}}", "machine: {nodeLabels: {a: b}}"],
    &["machine: {kubelet: {extraArgs: {v: 4, feature-gates: [A=true, B=false], empty: ''}}}"],
    &["machine: {kubelet: {extraArgs: {v: 4}}}", "machine: {kubelet: {extraArgs: {v: [5, 6], a: b}}}"],
    &[
        "machine: {kubelet: {extraConfig: {serverTLSBootstrap: true, maxPods: 0x10, ratio: 1.0, when: 2026-01-02, nested: {b: [1, a, ~], a: {x: yes}}}}}",
    ],
    &[
        "machine: {kubelet: {extraConfig: {a: {b: 1, l: [1]}, s: x, t: true}}}",
        "machine: {kubelet: {extraConfig: {a: {b: 2, c: 3, l: [2]}, s: '', t: false, n: ~}}}",
    ],
    &[
        "machine: {kubelet: {nodeIP: {validSubnets: [10.0.0.0/8]}, clusterDNS: [10.96.0.10], registerWithFQDN: true, skipNodeRegistration: false}}",
    ],
    &[
        "machine: {kubelet: {extraMounts: [{destination: /a, type: bind, source: /b, options: [rw], uidMappings: [{containerID: 1, hostID: 2, size: 3}]}, {destination: /c}]}}",
    ],
    &[
        "machine: {network: {interfaces: [{interface: eth0, dhcp: true, addresses: [10.0.0.1/24], mtu: 1500, routes: [{network: 0.0.0.0/0, gateway: 10.0.0.254, metric: 5}]}]}}",
    ],
    &[
        "machine: {network: {interfaces: [{interface: eth0, dhcp: true, vlans: [{vlanId: 5, dhcp: true}]}, {deviceSelector: {driver: virtio, busPath: '0*'}, dhcp: true}]}}",
        "machine: {network: {interfaces: [{interface: eth0, mtu: 9000, vlans: [{vlanId: 5, addresses: [1.1.1.1/24]}, {vlanId: 6, mtu: 1400}]}, {deviceSelector: {busPath: '0*', driver: virtio}, dhcp: false}, {interface: eth1}]}}",
    ],
    &[
        "machine: {network: {interfaces: [{interface: eth0, dhcp: true}, {interface: eth1, dhcp: true}]}}",
        "machine: {network: {interfaces: [{interface: eth0, $patch: delete}]}}",
    ],
    &[
        "machine: {network: {nameservers: [1.1.1.1], searchDomains: [a.b], extraHostEntries: [{ip: 1.2.3.4, aliases: [x, y]}], disableSearchDomain: true}}",
        "machine: {network: {nameservers: [8.8.8.8], hostname: {$patch: delete}}}",
    ],
    &[
        "machine: {network: {interfaces: [{interface: bond0, bond: {mode: 802.3ad, interfaces: [a, b], miimon: 100, lacpRate: fast, useCarrier: true, adActorSysPrio: 3}}, {interface: br0, bridge: {interfaces: [c], stp: {enabled: true}, vlan: {vlanFiltering: false}}}, {interface: wg0, wireguard: {privateKey: abc, listenPort: 111, peers: [{publicKey: k, endpoint: '1.2.3.4:5', persistentKeepaliveInterval: 10s, allowedIPs: [10.0.0.0/8]}]}}, {interface: d, dummy: true, dhcpOptions: {routeMetric: 5, ipv4: true}}]}}",
    ],
    &[
        "machine: {files: [{content: 'hello', permissions: 0o644, path: /var/a, op: create}, {content: \"a\\nb\\n\", permissions: 0600, path: /var/b, op: append}]}",
    ],
    &[
        "machine: {disks: [{device: /dev/sdb, partitions: [{mountpoint: /var/x, size: 10 GB}, {mountpoint: /var/y, size: 1000001}, {mountpoint: /var/z}]}]}",
    ],
    &[
        "machine: {time: {disabled: false, servers: [a, b], bootTimeout: 90s}, udev: {rules: [x]}, env: {A: b}, sysfs: {a.b: c}}",
    ],
    &[
        "machine: {logging: {destinations: [{endpoint: 'TCP://1.2.3.4:5/', format: json_lines, extraTags: {b: c, a: d}}]}}",
    ],
    &[
        "machine: {kernel: {modules: [{name: a, parameters: [x=1]}, {name: b}]}, seccompProfiles: [{name: p.json, value: {defaultAction: LOG}}]}",
    ],
    &[
        "machine: {registries: {mirrors: {ghcr.io: {endpoints: ['https://a'], overridePath: true}, docker.io: {endpoints: [b], skipFallback: false}}, config: {reg: {tls: {insecureSkipVerify: true, ca: aGk=, clientIdentity: {crt: aGk=, key: aGk=}}, auth: {username: u, password: p}}}}}",
        "machine: {registries: {mirrors: {ghcr.io: {endpoints: ['https://c']}}}}",
    ],
    &[
        "machine: {features: {kubePrism: {port: 7777}, hostDNS: {enabled: false, resolveMemberNames: true}, kubernetesTalosAPIAccess: {enabled: true, allowedRoles: [os:reader], allowedKubernetesNamespaces: [x]}, imageCache: {localEnabled: true}, nodeAddressSortAlgorithm: v2}}",
    ],
    &[
        "machine: {nodeAnnotations: {a: b}, nodeTaints: {x: 'y:NoSchedule'}, pods: [{kind: Pod, apiVersion: v1}], acceptedCAs: [{crt: aGk=}], baseRuntimeSpecOverrides: {process: {rlimits: [{type: X, hard: 1}]}}}",
    ],
    &[
        "machine: {systemDiskEncryption: {state: {provider: luks2, keys: [{slot: 0, nodeID: {}}, {slot: 1, static: {passphrase: x}}, {slot: 2, tpm: {checkSecurebootStatusOnEnroll: true}}, {slot: 3, kms: {endpoint: 'https://k'}}], options: [a], keySize: 256, blockSize: 4096, cipher: c}}}",
    ],
    &["cluster: {network: {podSubnets: [10.1.0.0/16, 'fd00::/64'], serviceSubnets: []}}"],
    &[
        "cluster: {network: {cni: {name: custom, urls: ['https://x/y.yaml'], flannel: {extraArgs: [a], kubeNetworkPoliciesEnabled: true}}, dnsDomain: other.local}}",
    ],
    &["cluster: {controlPlane: {endpoint: 'https://b:2', localAPIServerPort: 0}}"],
    &["cluster: {controlPlane: {endpoint: 'HTTPS://[fd00::1]/x', localAPIServerPort: 7443}}"],
    &[
        "cluster: {apiServer: {extraArgs: {oidc-issuer-url: 'https://i', z: [a, b]}, certSANs: [q], env: {A: '1'}, extraVolumes: [{hostPath: /a, mountPath: /b}, {hostPath: /c, mountPath: /d, readonly: true}], resources: {requests: {cpu: 1, memory: 1Gi}}, authorizationConfig: [{type: Node, name: node}]}}",
    ],
    &[
        "cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {exemptions: {namespaces: [extra]}, defaults: {enforce: privileged}}}, {name: Other, configuration: {a: b}}]}}",
    ],
    &["cluster: {apiServer: {admissionControl: [{name: PodSecurity, $patch: delete}]}}"],
    &["cluster: {apiServer: {auditPolicy: {rules: []}}}"],
    &["cluster: {apiServer: {auditPolicy: {}}}"],
    &["cluster: {apiServer: {auditPolicy: {$patch: delete}}}"],
    &["cluster: {apiServer: {admissionControl: {$patch: delete}}}"],
    &[
        "cluster: {etcd: {extraArgs: {a: b}, advertisedSubnets: [10.0.0.0/8], listenSubnets: [x]}, scheduler: {config: {profiles: []}, extraArgs: {b: c}}, controllerManager: {extraArgs: {node-cidr-mask-size: 26}}, proxy: {mode: ipvs, disabled: true}}",
    ],
    &[
        "cluster: {coreDNS: {disabled: true, image: x}, externalCloudProvider: {enabled: true, manifests: ['https://m']}, extraManifests: ['https://a'], extraManifestHeaders: {H: v}, adminKubeconfig: {certLifetime: 1h}, allowSchedulingOnControlPlanes: true}",
    ],
    &[
        "cluster: {inlineManifests: [{name: a, contents: \"apiVersion: v1\\nkind: Namespace\\nmetadata:\\n  name: x\\n\"}]}",
        "cluster: {inlineManifests: [{name: a, contents: b}]}",
    ],
    &["cluster: {discovery: {registries: {service: {disabled: true}, kubernetes: {disabled: false}}}}"],
    &["cluster: {discovery: {enabled: false, registries: {service: {endpoint: 'https://d/'}}}}"],
    &["cluster: {ca: {crt: aGVsbG8=}}"],
    &["cluster: {acceptedCAs: [{crt: aGk=}], aescbcEncryptionSecret: abc}"],
    &["debug: true\npersist: false\n"],
    &["version: v1alpha1\nmachine: {env: {A: \"multi\\nline\"}}\n"],
    &["machine: {$patch: delete}"],
    &["cluster: {controlPlane: {$patch: delete}}"],
    &[
        "apiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n",
    ],
    &["apiVersion: v1alpha1\nkind: HostnameConfig\nauto: {$patch: delete}\nhostname: x\n"],
    &["{apiVersion: v1alpha1, kind: HostnameConfig, auto: OFF, hostname: x}"],
    &[
        "machine: {env: {A: x}}\n---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 9000\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 0\nup: false\naddresses: [{address: 10.0.0.1/24, routePriority: 0}]\n",
    ],
    &[
        "{apiVersion: v1alpha1, kind: RegistryMirrorConfig, name: a, endpoints: [{url: 'https://x'}]}",
        "{apiVersion: v1alpha1, kind: RegistryMirrorConfig, name: a, endpoints: [{url: 'https://y', overridePath: true}], skipFallback: true}",
        "{apiVersion: v1alpha1, kind: RegistryMirrorConfig, name: b, endpoints: []}",
    ],
    &[
        "{apiVersion: v1alpha1, kind: NetworkRuleConfig, name: a, portSelector: {ports: [80, 90-100], protocol: tcp}, ingress: [{subnet: 10.0.0.0/8}]}",
        "{apiVersion: v1alpha1, kind: NetworkRuleConfig, name: a, portSelector: {ports: [81], protocol: UDP}, ingress: [{subnet: 11.0.0.0/8, except: 11.1.0.0/16}]}",
    ],
    &[
        "{apiVersion: v1alpha1, kind: ExtensionServiceConfig, name: a, configFiles: [{content: x, mountPath: /a}], environment: [A=b]}",
        "{apiVersion: v1alpha1, kind: ExtensionServiceConfig, name: a, configFiles: [{content: y, mountPath: /a}, {content: z, mountPath: /b}], environment: [C=d]}",
    ],
    &[
        "{apiVersion: v1alpha1, kind: ImageVerificationConfig, rules: [{image: a, skip: true}, {image: b, deny: true}]}",
        "{apiVersion: v1alpha1, kind: ImageVerificationConfig, rules: [{image: a, publicKey: {certificate: x}}, {image: c, keyless: {issuer: i, subject: s}}]}",
    ],
];

/// One document of each kind, with all its keys.
pub(crate) const DOCUMENTS: &[&str] = &[
    "{kind: BondConfig, name: bond0, hardwareAddr: '00:1A:2b:3c:4d:5e', links: [a, b], bondMode: 802.3ad, miimon: 0, updelay: 1, downdelay: 2, useCarrier: false, xmitHashPolicy: layer3+4, arpInterval: 3, arpIpTargets: [1.1.1.1], nsIp6Targets: ['fd00::1'], arpValidate: all, arpAllTargets: any, lacpRate: FAST, failOverMac: follow, adSelect: count, adActorSysPrio: 4, adUserPortKey: 5, adLACPActive: on, primaryReselect: better, resendIGMP: 6, minLinks: 7, lpInterval: 8, packetsPerSlave: 9, numPeerNotif: 10, tlbLogicalLb: 1, allSlavesActive: 0, peerNotifDelay: 11, missedMax: 2, up: true, mtu: 1400, addresses: [{address: 10.0.0.1/24, routePriority: 5}], routes: [{gateway: 10.0.0.254, metric: 3, mtu: 1, table: 100, source: 10.0.0.1}, {destination: 10.1.0.0/16, table: main}], multicast: true}",
    "{kind: BridgeConfig, name: br0, hardwareAddr: 001A2b3c4d5e, links: [a], stp: {enabled: true}, vlan: {filtering: false}, up: no}",
    "{kind: DHCPv4Config, name: eth0, routeMetric: 5, ignoreHostname: true, clientIdentifier: duid, duidRaw: '00:01:00:01'}",
    "{kind: DHCPv6Config, name: eth0, routeMetric: 0, ignoreHostname: false, clientIdentifier: MAC}",
    "{kind: DummyLinkConfig, name: d0, hardwareAddr: '00:1a:2b:3c:4d:5e', addresses: [{address: 'fd00::1/64'}]}",
    "{kind: EthernetConfig, name: eth0, features: {tx-a: true, rx-b: off}, rings: {rx: 1, tx: 0, rx-mini: 2, rx-jumbo: 3, rx-buf-len: 4, cqe-size: 5, tx-push: true, rx-push: false, tx-push-buf-len: 6, tcp-data-split: true}, channels: {rx: 1, tx: 2, other: 3, combined: 4}, wakeOnLan: [magic, Unicast]}",
    "{kind: HCloudVIPConfig, name: 10.0.0.9, link: eth0, apiToken: t}",
    "{kind: Layer2VIPConfig, name: 10.0.0.10, link: eth0}",
    "{kind: LinkAliasConfig, name: net0, selector: {match: 'link.driver == \"virtio\"'}}",
    "{kind: LinkConfig, name: eth5, up: true}",
    "{kind: VLANConfig, name: eth0.5, vlanID: 5, vlanMode: 802.1q, parent: eth0, mtu: 1400}",
    "{kind: VRFConfig, name: vrf0, links: [a], table: 123, hardwareAddr: '00:1a:2b:3c:4d:5e'}",
    "{kind: WireguardConfig, name: wg0, privateKey: k, listenPort: 51820, firewallMark: 1, peers: [{publicKey: p, presharedKey: s, endpoint: '1.2.3.4:5', persistentKeepaliveInterval: 25s, allowedIPs: [10.0.0.0/8]}]}",
    "{kind: ResolverConfig, nameservers: [{address: 1.1.1.1}, {address: 'fd00::53'}], searchDomains: {domains: [a.b], disableDefault: true}}",
    "{kind: StaticHostConfig, name: 10.0.0.7, hostnames: [a, b.c]}",
    "{kind: TimeSyncConfig, enabled: true, bootTimeout: 2m, ntp: {servers: [a]}, ptp: {devices: [/dev/ptp0]}}",
    "{kind: BlackholeRouteConfig, name: 10.9.0.0/16, metric: 5}",
    "{kind: RoutingRuleConfig, name: '100', src: 10.0.0.0/8, dst: 11.0.0.0/8, table: local, action: blackhole, iifName: a, oifName: b, fwMark: 1, fwMask: 255}",
    "{kind: KubeSpanConfig, enabled: true, advertiseKubernetesNetworks: false, allowDownPeerBypass: true, harvestExtraEndpoints: false, mtu: 1400, filters: {endpoints: ['0.0.0.0/0'], excludeAdvertisedNetworks: [192.168.0.0/16]}}",
    "{kind: KubeSpanEndpointsConfig, extraAnnouncedEndpoints: ['1.2.3.4:5']}",
    "{kind: NetworkDefaultActionConfig, ingress: BLOCK}",
    "{kind: NetworkRuleConfig, name: r, portSelector: {ports: [50000, 8000-8080], protocol: tcp}, ingress: [{subnet: 10.0.0.0/8, except: 10.1.0.0/16}]}",
    "{kind: TCPProbeConfig, name: p, interval: 1s, failureThreshold: 3, endpoint: 'a:1', timeout: 500ms}",
    "{kind: VolumeConfig, name: EPHEMERAL, provisioning: {diskSelector: {match: 'disk.size > 1'}, grow: true, minSize: 10GiB, maxSize: 50%}, encryption: {provider: luks2, keys: [{slot: 0, tpm: {options: {pcrs: [0, 7]}, checkSecurebootStatusOnEnroll: true}, lockToState: true}, {slot: 1, static: {passphrase: x}}, {slot: 2, nodeID: {}}, {slot: 3, kms: {endpoint: 'https://k'}}], cipher: c, keySize: 512, blockSize: 4096, options: [a]}, mount: {secure: true}}",
    "{kind: UserVolumeConfig, name: u, volumeType: partition, provisioning: {diskSelector: {match: system_disk}, minSize: 1GB, maxSize: 2.5TB}, filesystem: {type: xfs, projectQuotaSupport: true}, mount: {disableAccessTime: true, secure: false}}",
    "{kind: RawVolumeConfig, name: raw, provisioning: {diskSelector: {match: 'true'}, minSize: 1GiB}}",
    "{kind: SwapVolumeConfig, name: s, provisioning: {minSize: 4GB, maxSize: 4GB, diskSelector: {match: 'true'}}}",
    "{kind: ExistingVolumeConfig, name: e, discovery: {volumeSelector: {match: 'volume.partition_label == \"X\"'}}, mount: {readOnly: true, disableAccessTime: false, secure: true}}",
    "{kind: ExternalVolumeConfig, name: x, filesystemType: virtiofs, mount: {readOnly: true, virtiofs: {tag: data}}}",
    "{kind: ZswapConfig, maxPoolPercent: 25, shrinkerEnabled: true}",
    "{kind: EnvironmentConfig, variables: {B: c, A: ''}}",
    "{kind: EventSinkConfig, endpoint: '192.168.1.1:3247'}",
    "{kind: KmsgLogConfig, name: k, url: 'TCP://1.2.3.4:5'}",
    "{kind: OOMConfig, triggerExpression: 'true', cgroupRankingExpression: 'memory_max.hasValue() ? 1.0 : 0.0', strictCgroupClassOrdering: true, sampleInterval: 1s}",
    "{kind: PCIDriverRebindConfig, name: '0000:04:00.00', targetDriver: vfio-pci}",
    "{kind: RegistryAuthConfig, name: r.io, username: u, password: p, auth: a, identityToken: i}",
    "{kind: RegistryMirrorConfig, name: ghcr.io, endpoints: [{url: 'HTTPS://m/v2', overridePath: true}], skipFallback: true}",
    "{kind: RegistryTLSConfig, name: r.io, clientIdentity: {cert: c, key: k}, ca: \"a\\nb\\n\", insecureSkipVerify: false}",
    "{kind: SideroLinkConfig, apiUrl: 'https://s:1?jointoken=x', uniqueToken: t}",
    "{kind: TrustedRootsConfig, name: t, certificates: \"-----BEGIN\\nX\\n\"}",
    "{kind: WatchdogTimerConfig, device: /dev/watchdog0, timeout: 1m30s}",
    "{kind: ExtensionServiceConfig, name: nut, configFiles: [{content: MONITOR, mountPath: /etc/a}], environment: [A=b]}",
    "{kind: ImageVerificationConfig, rules: [{image: a, skip: false, deny: true, keyless: {issuer: i, subject: s, subjectRegex: r}, publicKey: {certificate: c}}]}",
    "{kind: HostnameConfig, hostname: h, auto: talos-addr}",
];

/// Sets of patches that Talos refuses.
pub(crate) const REFUSED: &[&[&str]] = &[
    &["machine: {network: {hostnam: x}}"],
    &["machine: {install: {wipe: maybe}}"],
    &["machine: {certSANs: x}"],
    &["machine: {kubelet: {extraMounts: [{destination: [a]}]}}"],
    &["machine: {files: [{content: a, permissions: '0o644', path: b, op: create}]}"],
    &["machine: {time: {bootTimeout: 5}}"],
    &["machine: {network: {interfaces: [{interface: a, mtu: x}]}}"],
    &["machine: {ca: {crt: '*'}}"],
    &["{apiVersion: v1alpha1, kind: Nonsense}"],
    &["{apiVersion: v1beta1, kind: HostnameConfig, hostname: x}"],
    &["{kind: HostnameConfig, hostname: x}"],
    &["{apiVersion: v1alpha1, kind: LinkConfig, name: a, addresses: [{address: 1.1.1.1}]}"],
    &["{apiVersion: v1alpha1, kind: BondConfig, name: a, bondMode: nonsense}"],
    &[
        "{apiVersion: v1alpha1, kind: NetworkRuleConfig, name: a, portSelector: {ports: ['80'], protocol: tcp}}",
    ],
    &["foo: bar\nbaz: x\n"],
    &["[{op: add, path: /machine/certSANs, value: [x]}]"],
    &[
        "machine: {network: {nameservers: {$patch: delete}}}",
        "machine: {nodeAnnotations: {a: {$patch: delete}}}",
    ],
    &["machine: {nodeLabels: {nothing: {$patch: delete}}}"],
    &["machine: {udev: {rules: {$patch: delete}}}"],
    &["cluster: {apiServer: {admissionControl: [{name: Absent, $patch: delete}]}}"],
    &["cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {$patch: delete}}]}}"],
    &["machine: {certSANs: [{$patch: delete}]}"],
    &["$patch: delete\nmachine: {}\n"],
    &["cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {defaults: 5}}]}}"],
    &["machine: {kubelet: {extraConfig: {a: 1}}}", "machine: {kubelet: {extraConfig: {a: 1.5}}}"],
    &[
        "machine: {install: {diskSelector: {size: '> 1GB'}}}",
        "machine: {install: {diskSelector: {size: '> 2GB'}}}",
    ],
    &["machine: {env: {A: b}, env: {C: d}}"],
    &["machine: {<<: {env: {A: b}}}"],
];
