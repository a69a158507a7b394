resource "kontinuum_instance" "node" {
  for_each = { a = "10.0.0.11", b = "10.0.0.12", c = "10.0.0.13", d = "10.0.0.14" }

  name       = each.key
  interfaces = [each.value]
  labels     = { role = each.key == "d" ? "worker" : "control-plane" }
}

# Three of the machines that carry the label. To hand the instances on as a whole makes a replaced machine,
# whose uid is another, reach the pool and its cluster in the same plan.
resource "kontinuum_instance_pool" "control_plane" {
  name      = "prod-control-plane"
  instances = kontinuum_instance.node
  selector  = { match_labels = { role = "control-plane" } }
  replicas  = 3
}

# A selector alone chooses among all machines of the inventory, also among those of other states.
resource "kontinuum_instance_pool" "general" {
  name     = "prod-general"
  replicas = 1

  selector = {
    match_expressions = [
      { key = "role", operator = "In", values = ["worker"] },
      { key = "quarantined", operator = "DoesNotExist" },
    ]
  }

  depends_on = [kontinuum_instance.node]
}
