# As `talosctl gen secrets` writes them, or a cluster's own: `kontinuum_talos_cluster.prod.machine_secrets`.
variable "machine_secrets" {
  type      = string
  sensitive = true
}

data "kontinuum_talos_machine_configuration" "worker" {
  cluster_name       = "prod"
  cluster_endpoint   = "https://10.0.0.10:6443"
  machine_type       = "worker"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  machine_secrets    = var.machine_secrets

  hostname          = "worker-9"
  install_disk      = "/dev/nvme0n1"
  system_extensions = ["siderolabs/qemu-guest-agent"]
  registries        = { "docker.io" = { endpoints = ["https://mirror.example"] } }
  config_patches    = [yamlencode({ machine = { udev = { rules = ["SUBSYSTEM==\"drm\", GROUP=\"44\""] } } })]
}

# For machines that take their configuration from elsewhere: user data of a cloud, a PXE server, an ISO.
output "user_data" {
  value     = data.kontinuum_talos_machine_configuration.worker.machine_configuration
  sensitive = true
}
