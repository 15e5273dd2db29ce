#!/usr/bin/env bash
# Installs what the build needs: system packages with apt where that is possible, Python packages into .venv.
# Says nothing when all is there already.
set -eu
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build git python3-venv libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libhdf5-dev libgtest-dev libopenmpi-dev openmpi-bin"

missing=""
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing="$missing $package"
done
if [ -n "$missing" ]; then
  install="apt-get install -y --no-install-recommends$missing"
  if [ "$(id -u)" = 0 ]; then
    sudo=""
  elif sudo -n true 2>/dev/null; then
    sudo="sudo"
  else
    echo "setup: these packages are missing; install them and start again:" >&2
    echo "  sudo $install" >&2
    exit 1
  fi
  echo "setup: installing$missing"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo $install >/dev/null
fi

stamp=.venv/ready
if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
  echo "setup: Python packages into .venv"
  python3 -m venv .venv
  if ! .venv/bin/python -m pip install -q --disable-pip-version-check jinja2 numpy matplotlib pytest hypothesis; then
    echo "setup: the package index cannot be reached; using the packages of the system" >&2
    python3 -m venv --system-site-packages .venv
    .venv/bin/python -c "import jinja2, numpy, matplotlib, pytest" || {
      echo "setup: install them with: sudo apt-get install -y python3-jinja2 python3-numpy python3-matplotlib python3-pytest" >&2
      exit 1
    }
  fi
  touch "$stamp"
fi
