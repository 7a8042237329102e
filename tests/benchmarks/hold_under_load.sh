#!/bin/sh
# Holds a rate while other programs take half of the machine: one busy thread for every two cores, from second 10 to
# second 25 of runs of 40. First without --hold, then with it; each writes a page with rate and setting over time.
# Usage: hold_under_load.sh SIGHTLINE VIDEO RATE FOLDER [options of `sightline detect`]
set -eu
program=$1 video=$2 rate=$3 folder=$4
shift 4
mkdir -p "$folder"

busy() {
  sleep 10
  for _ in $(seq $((($(nproc) + 1) / 2))); do timeout 15 sh -c 'while :; do :; done' & done
  wait
}

run() { # NAME [options]
  name=$1
  shift
  echo "$name (load average before: $(cut -d' ' -f1 /proc/loadavg))"
  busy &
  timeout --foreground -s INT 40 "$program" detect "$video" --loop -1 -d /dev/null --report "$folder/$name.html" "$@" \
    2>&1 | tr '\r' '\n' | grep -a -E 'setting:|frames? in|frames by setting|accuracy by|kept within|^error' || true
  wait
}

run plain "$@"
run hold --hold "$rate" "$@"
