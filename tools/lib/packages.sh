# shellcheck shell=bash
# shellcheck disable=SC2034  # the lists are used by those who source this
# What Sightline needs of Debian 12 or 13, and how it gets there. Sourced by the scripts in tools/.

# To build and run the program; opencv-data has the cascades that find faces.
readonly SIGHTLINE_PACKAGES=(
  build-essential g++ cmake ninja-build pkg-config
  libtbb-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev libhwy-dev libcli11-dev
  libpugixml-dev libonnx-dev libprotobuf-dev libsqlite3-dev libglib2.0-dev libtiff-dev libjpeg-dev libdeflate-dev libopenslide-dev libeigen3-dev
  libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libavfilter-dev libavdevice-dev
  libcurl4-openssl-dev libcairo2-dev fonts-dejavu-core libsdl2-dev libx11-dev
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd opencv-data
)

# Besides, to build and run the tests. Xvfb is the screen that windows are opened on and that is captured, xdotool
# presses keys there, ffmpeg serves streams.
readonly SIGHTLINE_TEST_PACKAGES=(
  liblinear-dev libonnx-testdata libgtest-dev libgmock-dev libbenchmark-dev xvfb xdotool ffmpeg mold
  libopencv-dev python3-numpy python3-pil mypy abigail-tools
)

# Besides, for `tools/test --thorough`: Chromium opens the report page, PyTorch trains a network,
# Slurm runs jobs.
readonly SIGHTLINE_THOROUGH_PACKAGES=(chromium python3-torch python3-numpy python3-pil slurm-wlm munge)

# To fuzz, besides.
readonly SIGHTLINE_FUZZ_PACKAGES=(clang libclang-rt-14-dev)

say() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

fail() {
  say "$*"
  exit 1
}

# Runs a command as root: as it is for root, else through sudo.
as_root() {
  if [[ "$(id -u)" -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "this needs root, and there is no sudo; run as root: $*"
  fi
}

is_installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

# Installs those of the packages that are missing; asks apt for nothing where none is. Says how much will be downloaded
# and how much disk it takes; shows apt's own output only if it fails.
install_packages() {
  local missing=() package log
  command -v dpkg-query >/dev/null || fail "this is not Debian; install by its own means what tools/lib/packages.sh lists"
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "all packages are there"
    return
  fi
  log="$(mktemp)"
  say "asking apt about ${#missing[@]} missing packages"
  {
    as_root apt-get update
    # With --assume-no, apt-get prints the sizes and fails.
    as_root env LC_ALL=C apt-get install --assume-no --no-install-recommends "${missing[@]}" || true
  } >"$log" 2>&1
  say "installing ${missing[*]}"
  grep -E '^(Need to get|After this operation)' "$log" >&2 || true
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "apt-get cannot install the packages; its whole output is in $log"
  fi
  rm -f -- "$log"
}
