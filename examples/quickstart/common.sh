# What `up` and `down` share: where things are, and the client. Sourced, not run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
lab=${KONTINUUM_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/kontinuum/lab}
# State, inventory, kubeconfig and the simulated disks: all that the quick start writes.
state=${XDG_STATE_HOME:-$HOME/.local/state}/kontinuum/quickstart
binaries=${CARGO_TARGET_DIR:-$root/target}/debug

say() {
  printf '\n%s\n' "$*"
}

fail() {
  echo "quickstart: $*" >&2
  exit 1
}

# The client from PATH, else the lab's OpenTofu.
client() {
  command -v terraform || command -v tofu || echo "$lab/bin/tofu"
}

# run_client ARGUMENTS…: the client, in the quick start's module, whose state stands beside its other files.
run_client() {
  TF_CLI_CONFIG_FILE=$state/client.tfrc CHECKPOINT_DISABLE=1 TF_VAR_charts=$lab/charts \
    KONTINUUM_INVENTORY=$state/inventory/inventory.db "$(client)" -chdir="$state/module" "$@"
}

# Whether the simulator of the quick start runs. The number may have gone to another program since.
simulator_runs() {
  [[ -f $state/simulator.pid ]] &&
    [[ $(readlink "/proc/$(<"$state/simulator.pid")/exe" 2>/dev/null) == */kontinuum-simulator* ]]
}
