data "kontinuum_instances" "all" {}

output "machines" {
  value = {
    for machine in data.kontinuum_instances.all.instances :
    machine.name => "${machine.stage}${machine.claimed_by == null ? "" : " by ${machine.claimed_by}"}"
  }
}
