terraform {
  required_version = ">= 1.6"
  required_providers {
    kontinuum = {
      source = "kontinuum/kontinuum"
    }
  }
}

# Nothing has to be said on a workstation. Where the working directory and the home folder are thrown away
# (CI, Terragrunt, controllers), say where the inventory stays.
provider "kontinuum" {
  inventory = { file = { path = "/var/lib/kontinuum/inventory.db" } }
}
