import {
  to = kontinuum_instance.node["a"]
  id = "a"
}
