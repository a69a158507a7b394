import {
  to = kontinuum_talos_cluster.prod
  id = "prod"
}
