resource "kontinuum_instance" "control_plane" {
  for_each   = { cp-1 = "10.0.0.11", cp-2 = "10.0.0.12", cp-3 = "10.0.0.13" }
  name       = each.key
  interfaces = [each.value]
}

resource "kontinuum_instance" "worker" {
  for_each   = { worker-1 = "10.0.0.21", worker-2 = "10.0.0.22" }
  name       = each.key
  interfaces = [each.value]
}

resource "kontinuum_instance_pool" "control_plane" {
  name      = "prod-control-plane"
  instances = kontinuum_instance.control_plane
  replicas  = 3
}

resource "kontinuum_instance_pool" "general" {
  name      = "prod-general"
  instances = kontinuum_instance.worker
  replicas  = 2
}

resource "kontinuum_talos_cluster" "prod" {
  name               = "prod"
  endpoint           = "https://10.0.0.10:6443" # a load balancer before the control planes
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"

  control_plane = { pool = kontinuum_instance_pool.control_plane }
  workers = {
    general = {
      pool        = kontinuum_instance_pool.general
      node_labels = { tier = "general" }
      node_taints = { dedicated = "batch:PreferNoSchedule" }
    }
  }

  config_patches = [
    yamlencode({ machine = { time = { servers = ["time.example.org"] } } }),
  ]

  cilium       = { values = yamlencode({ hubble = { enabled = true } }) }
  cert_manager = {}

  timeouts = { create = "45m" }

  lifecycle {
    prevent_destroy = true
  }
}

output "kubeconfig" {
  value     = kontinuum_talos_cluster.prod.kubeconfig
  sensitive = true
}
