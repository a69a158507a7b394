import {
  to = kontinuum_instance_pool.control_plane
  id = "prod-control-plane"
}
