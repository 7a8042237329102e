# shellcheck shell=bash
# A bare Debian in a temporary folder, for scripts that show that something works on it. Sourced after packages.sh.

bare_root=""

# make_bare_root SUITE: makes a bare Debian (bookworm, trixie, ...) in $bare_root, with the machine's devices.
make_bare_root() {
  local folder
  bare_root="$(mktemp -d)"
  chmod 755 "$bare_root"
  say "making a bare Debian '$1'"
  as_root mmdebstrap --quiet --variant=minbase "$1" "$bare_root" >&2
  as_root mount -t proc proc "$bare_root/proc"
  for folder in sys dev dev/pts dev/shm; do
    if [[ -d "/$folder" ]]; then as_root mount --bind "/$folder" "$bare_root/$folder"; fi
  done
}

# Removes it. Leaves it where something is still mounted, so that nothing of the machine is removed.
remove_bare_root() {
  local folder
  [[ -n "$bare_root" ]] || return 0
  for folder in dev/shm dev/pts dev sys proc; do
    if mountpoint -q "$bare_root/$folder"; then as_root umount "$bare_root/$folder"; fi
  done
  as_root rm -rf --one-file-system -- "$bare_root"
  bare_root=""
}

# in_bare COMMAND...: runs a command in it as root, with a plain environment.
in_bare() {
  as_root chroot "$bare_root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}
