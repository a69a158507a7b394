# Three machines that were booted from a Talos image and wait in maintenance mode.
resource "kontinuum_instance" "node" {
  for_each = {
    a = ["10.0.0.11"]
    b = ["10.0.0.12", "node-b.example.org"]
    c = ["10.0.0.13"]
  }

  name       = each.key
  interfaces = each.value
  labels     = { role = "control-plane" }

  # Only needed where a machine has more than one disk.
  install_disk = {
    type = "nvme"
    size = ">= 100GB"
  }
}
