# Three control planes and a worker on simulated machines, with Cilium and cert-manager.
# `make quickstart` applies this; on real machines only the addresses differ.

terraform {
  required_providers {
    kontinuum = {
      source = "kontinuum/kontinuum"
    }
  }
}

variable "charts" {
  description = "Folder with the charts' archives, so that nothing is fetched. Null: the projects' own repositories."
  type        = string
  default     = null
}

locals {
  control_planes = {
    cp-1 = "127.10.0.11"
    cp-2 = "127.10.0.12"
    cp-3 = "127.10.0.13"
  }
  workers = {
    worker-1 = "127.10.0.21"
  }
}

resource "kontinuum_instance" "control_plane" {
  for_each   = local.control_planes
  name       = each.key
  interfaces = [each.value]
  labels     = { role = "control-plane" }
}

resource "kontinuum_instance" "worker" {
  for_each   = local.workers
  name       = each.key
  interfaces = [each.value]
  labels     = { role = "worker" }
}

resource "kontinuum_instance_pool" "control_plane" {
  name      = "quickstart-control-plane"
  instances = kontinuum_instance.control_plane
  selector  = { match_labels = { role = "control-plane" } }
  replicas  = 3
}

resource "kontinuum_instance_pool" "worker" {
  name      = "quickstart-worker"
  instances = kontinuum_instance.worker
  selector  = { match_labels = { role = "worker" } }
  replicas  = 1
}

resource "kontinuum_talos_cluster" "quickstart" {
  name               = "quickstart"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"

  control_plane = { pool = kontinuum_instance_pool.control_plane }
  workers = {
    general = { pool = kontinuum_instance_pool.worker, node_labels = { tier = "general" } }
  }

  cilium       = { repository = var.charts == null ? null : "${var.charts}/cilium-1.20.2.tgz" }
  cert_manager = { repository = var.charts == null ? null : "${var.charts}/cert-manager-v1.21.2.tgz" }
}

output "members" {
  value = [for member in kontinuum_talos_cluster.quickstart.members : "${member.name}  ${member.role}  ${member.address}"]
}

output "conditions" {
  value = [
    for condition in kontinuum_talos_cluster.quickstart.conditions :
    "${condition.type}=${condition.status} (${condition.reason})"
  ]
}

output "kubeconfig" {
  value     = kontinuum_talos_cluster.quickstart.kubeconfig
  sensitive = true
}

output "talosconfig" {
  value     = kontinuum_talos_cluster.quickstart.talosconfig
  sensitive = true
}
