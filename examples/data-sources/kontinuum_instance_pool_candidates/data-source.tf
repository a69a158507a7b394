data "kontinuum_instance_pool_candidates" "general" {
  pool = "prod-general"
}

# Why a pool is short: each machine that it cannot claim, with the reason.
output "not_claimable" {
  value = {
    for machine in data.kontinuum_instance_pool_candidates.general.machines :
    machine.name => machine.verdict if !machine.claimable
  }
}
