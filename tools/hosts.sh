#!/usr/bin/env bash
# Runs a command as the ranks of two hosts that this machine plays: tools/hosts.sh RANKS COMMAND..., RANKS on each.
# Each host has network and host name of its own (namespaces, which need no rights of root where the system lets users
# make them), and a cable between them: Open MPI finds two hosts and sends by TCP. Status 77: namespaces cannot be made.
set -u
. "$(dirname "$0")/mpi.sh"
here=10.77.0.1 there=10.77.0.2
case ${1-} in
  inside)
    shift
    ;;
  enter)  # what mpirun starts in place of ssh: PROCESS HOST WORDS...
    exec nsenter --target "$2" --net --uts -- sh -c "${*:4}"
    ;;
  *)
    if [ $# -lt 2 ]; then
      echo "usage: tools/hosts.sh RANKS COMMAND..." >&2
      exit 2
    fi
    unshare --user --map-root-user --net --uts ip link add cable type veth peer name end 2>/dev/null || exit 77
    exec unshare --user --map-root-user --net --uts "$0" inside "$@"
    ;;
esac
ranks=$1
shift
unshare --net --uts sleep infinity &
other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
in_other=(nsenter --target $other --net --uts)
hostname first && "${in_other[@]}" hostname second
ip link add cable type veth peer name cable netns $other
ip addr add $here/24 dev cable && "${in_other[@]}" ip addr add $there/24 dev cable
for link in lo cable; do
  ip link set $link up && "${in_other[@]}" ip link set $link up
done
mpirun "${mpi_options[@]}" --oversubscribe --mca mpi_yield_when_idle 1 --mca plm_rsh_agent "$(realpath "$0") enter $other" \
  --mca oob_tcp_if_include cable --mca btl_tcp_if_include cable --host "$here:$ranks,$there:$ranks" -n $((2 * ranks)) "$@"
