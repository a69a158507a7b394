terraform import 'kontinuum_instance.node["a"]' a
