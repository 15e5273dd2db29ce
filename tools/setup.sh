#!/usr/bin/env bash
# Installs what the build needs: system packages with apt, dnf or zypper where that is possible, Python packages into
# .venv. Where everything is found without packages (modules of a cluster, an environment of conda) it goes on with
# that. Says nothing when all is there already. With the argument `tests`: what these need too; with `hip`: what compiles
# kernels for AMD's GPUs; with `docs`: what makes the site.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C

say() { echo "setup: $*" >&2; }

# --- which system -----------------------------------------------------------------------------------------------------

system=""
[ ! -r "${OS_RELEASE:-/etc/os-release}" ] || system=$(. "${OS_RELEASE:-/etc/os-release}" && echo "${ID:-} ${ID_LIKE:-}")
manager=""
for name in apt-get dnf zypper; do
  if [ -z "$manager" ] && command -v $name >/dev/null; then manager=$name; fi
done
before=""  # what enables further packages
case $manager in
  apt-get)
    packages="g++ cmake ninja-build git python3-venv python3-dev libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libhdf5-dev"
    packages="$packages libmpfr-dev libgtest-dev libopenmpi-dev openmpi-bin libtomlplusplus-dev libeigen3-dev"
    install="apt-get install -y --no-install-recommends"
    before="apt-get update -qq"
    ;;
  dnf)
    packages="gcc-c++ cmake ninja-build git python3-pip python3-devel fmt-devel json-devel cli11-devel zlib-devel hdf5-devel"
    packages="$packages mpfr-devel gtest-devel openmpi-devel tomlplusplus-devel eigen3-devel"
    install="dnf install -y"
    case $system in
      fedora*) ;;
      # The compiler and Python of Enterprise Linux 9 are too old; most libraries are in EPEL, which needs CRB.
      *)
        packages="gcc-toolset-13 python3.11 python3.11-pip python3.11-devel ${packages#gcc-c++ }"
        before="dnf install -y dnf-plugins-core epel-release"
        ;;
    esac
    ;;
  zypper)
    packages="gcc13-c++ cmake ninja git python311 python311-pip python311-devel fmt-devel nlohmann_json-devel cli11-devel zlib-devel"
    packages="$packages hdf5-devel mpfr-devel gtest openmpi4-devel tomlplusplus-devel eigen3-devel"
    install="zypper --non-interactive install"
    ;;
esac

# Packages that are not installed.
absent() {
  local name
  if [ "$manager" = apt-get ]; then
    for name in $packages; do
      dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q "ok installed" || printf ' %s' "$name"
    done
  elif [ -n "$manager" ]; then
    for name in $packages; do rpm -q "$name" >/dev/null 2>&1 || printf ' %s' "$name"; done
  fi
}

# --- what is there without packages -----------------------------------------------------------------------------------

compiler() { echo "${CXX:-$(command -v c++ || command -v g++ || true)}"; }

# Python 3.11 or later that can make environments.
python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if $name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo $name
      return
    fi
  done
}

# Lines `needs: ...` for what the build cannot do without, `wants: ...` for what tests and several ranks take.
lacking() {
  local found work
  found=$(compiler)
  if [ -z "$found" ]; then
    echo "needs: C++ compiler, g++ 12 or later (looked for \$CXX, c++, g++)"
  elif ! echo '#if !defined(__clang__) && __GNUC__ < 12
#error old
#endif' | $found -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
    echo "needs: C++ compiler, g++ 12 or later ($found is $($found -dumpfullversion 2>/dev/null || echo unusable))"
  fi
  command -v ninja >/dev/null || echo "needs: ninja"
  command -v git >/dev/null || echo "wants: git"
  [ -n "$(python)" ] || echo "needs: Python 3.11 or later with venv (looked for python3, python3.11 to python3.14)"
  [ -z "$(python)" ] || $(python) -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
    echo "wants: headers of Python (Python.h), for its package"
  if ! command -v cmake >/dev/null; then
    echo "needs: cmake 3.25 or later, and (looked for with it) fmt nlohmann_json Eigen3 CLI11 toml++ zlib HDF5 MPFR"
  elif ! cmake --version | awk 'NR == 1 { split($3, v, "."); exit !(v[1] > 3 || v[1] == 3 && v[2] >= 25) }'; then
    echo "needs: cmake 3.25 or later (found $(cmake --version | awk 'NR == 1 { print $3 }'))"
  elif [ -n "$found" ] && command -v ninja >/dev/null; then
    work=$(mktemp -d)
    if cmake -S cmake/requirements -B "$work" -G Ninja > "$work/log" 2>&1; then
      sed -n 's/^-- \(needs\|wants\): /\1: library /p' "$work/log"
    else
      echo "needs: compilers that work: $(grep -A2 -m1 'CMake Error' "$work/log" | tr '\n' ' ')"
    fi
    rm -rf "$work"
  fi
}

# --- system packages --------------------------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

may_install() { [ -n "$manager" ] && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }

install_packages() {
  say "installing$missing"
  if [ -n "$before" ]; then as_root $before >/dev/null; fi
  case $before in *epel*) as_root dnf config-manager --set-enabled crb >/dev/null ;; esac
  as_root env DEBIAN_FRONTEND=noninteractive $install$missing >/dev/null
}

stamp=.venv/found  # places in which everything was found
places="$PATH ${CC:-} ${CXX:-} ${CMAKE_PREFIX_PATH:-}"
missing=$(absent)
if [ -n "$missing" ] || [ -z "$manager" ]; then
  [ "$(cat $stamp 2>/dev/null)" = "$places" ] || list=$(lacking)
  if [ -n "${list:-}" ] && may_install; then
    install_packages
    list=$(lacking)
  fi
  if echo "${list:-}" | grep -q '^needs'; then
    say "this is missing:"
    echo "$list" | grep '^needs' | sed 's/^needs: /  /' >&2
    if [ -n "$manager" ] && [ -n "$missing" ]; then
      say "install it and start again:"
      echo "  sudo ${install}${missing}" >&2
    fi
    if [ "$manager" = dnf ] && [ -d /opt/rh/gcc-toolset-13 ]; then
      say "the compiler: source /opt/rh/gcc-toolset-13/enable"
    elif [ "$manager" = zypper ] && command -v g++-13 >/dev/null; then
      say "the compiler: export CC=gcc-13 CXX=g++-13"
    fi
    say "without the right to install: load modules, or packaging/environment.yml with conda (docs/howto-install.md)"
    exit 1
  fi
  [ -z "${list:-}" ] || say "goes on without: $(echo "$list" | sed 's/^wants: //' | paste -sd, | sed 's/,/, /g')"
fi

# --- AMD's GPUs -------------------------------------------------------------------------------------------------------

# A compiler for AMD's GPUs and ROCm's headers and device code: ROCm's, or those of the distribution. Tests go on without.
has_hip() {
  [ -d "${ROCM_PATH:-/opt/rocm}/llvm" ] || { command -v clang++-19 && command -v clang-offload-bundler-19 &&
    command -v llvm-readelf-19 && command -v ld.lld-19 && [ -e /usr/include/hip/hip_runtime.h ] &&
    ls /usr/lib/*/amdgcn/bitcode/ockl.bc; } >/dev/null 2>&1
}
case ${1:-} in
  hip | tests)
    hip="clang-19 clang-tools-19 llvm-19 lld-19 libamdhip64-dev rocm-device-libs"
    if ! has_hip && [ "$manager" = apt-get ] && may_install; then
      say "installing $hip"
      { as_root $before && as_root env DEBIAN_FRONTEND=noninteractive $install $hip; } >/dev/null 2>&1 || true
    fi
    if [ "$1" = hip ] && ! has_hip; then
      say "kernels for AMD's GPUs are compiled with ROCm (ROCM_PATH, default /opt/rocm), or on Debian 12 with"
      echo "  sudo apt-get install -y --no-install-recommends $hip" >&2
      exit 1
    fi
    ;;
  docs)
    if ! command -v doxygen >/dev/null && may_install; then
      say "installing doxygen"
      { [ -z "$before" ] || as_root $before >/dev/null; } && as_root env DEBIAN_FRONTEND=noninteractive $install doxygen >/dev/null
    fi
    if ! command -v doxygen >/dev/null; then
      say "the site needs doxygen; install it and start again:"
      echo "  sudo ${install:-PACKAGE-MANAGER install} doxygen" >&2
      exit 1
    fi
    ;;
esac

# --- Python packages --------------------------------------------------------------------------------------------------

has() { .venv/bin/python -c "import $1" 2>/dev/null; }

# Packages of an active environment (venv, conda, a module's PYTHONPATH), which .venv would not see: it is made from the
# interpreter below.
lend_environment() {
  "$1" -c 'import os, sys, sysconfig
given = os.environ.get("PYTHONPATH", "").split(":")
paths = [p for p in sys.path if p and (p.endswith("-packages") or p in given)]
place = sysconfig.get_path("purelib", "venv", {"base": os.path.abspath(".venv")})
open(os.path.join(place, "environment.pth"), "w").write("\n".join([*paths, ""]))'
}

from_system() {
  if may_install; then as_root env DEBIAN_FRONTEND=noninteractive $install "$@" >/dev/null 2>&1 || true; fi
}

lacks() {
  say "$1 missing for $python, and no package index can be reached; install them there and start again:"
  echo "  sudo ${install:-PACKAGE-MANAGER install} $2" >&2
  exit 1
}

ready=.venv/ready
python=$(python)
python=${python:-python3}
if [ ! -e "$ready" ] || [ pyproject.toml -nt "$ready" ]; then
  say "Python packages into .venv"
  $python -m venv .venv
  wanted="jinja2 numpy matplotlib pytest pytest-xdist hypothesis"
  if ! .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 $wanted; then
    say "the package index cannot be reached; using packages that are there"
    $python -m venv --system-site-packages --without-pip .venv
    lend_environment "$python"
    has "jinja2, numpy, matplotlib" || from_system python3-jinja2 python3-numpy python3-matplotlib
    has "jinja2, numpy, matplotlib" ||
      lacks "jinja2, numpy, matplotlib are" "python3-jinja2 python3-numpy python3-matplotlib"
  fi
  if [ -e .venv/bin/pip ]; then
    .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 "nanobind>=3.1" nanobind-backend \
      scikit-build-core 2>/dev/null || say "goes on without nanobind 3.1: the Python package (docs/python.md) is not built"
  fi
  touch "$ready"
fi
if [ "${1:-}" = tests ] && ! has pytest; then
  .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 pytest pytest-xdist hypothesis 2>/dev/null ||
    from_system python3-pytest
  has pytest || lacks "tests run by pytest, which is" "python3-pytest"
  has xdist || from_system python3-pytest-xdist  # with it tests run side by side; not every system has it
  has hypothesis || from_system python3-hypothesis  # tests of the algebra are skipped without
fi
if [ "${1:-}" = tests ] && ! has "h5py, pyerrors"; then  # tests of files and of the tutorial are skipped without
  .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 h5py pyerrors 2>/dev/null || from_system python3-h5py
fi
if [ "${1:-}" = tests ] && command -v mpirun >/dev/null && ! has mpi4py; then  # one test is skipped without
  .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 --only-binary :all: mpi4py 2>/dev/null || true
fi
if [ "${1:-}" = docs ] && ! has "mkdocs, mkdocstrings, mkdocstrings_handlers.python, pymdownx, pygments, latex2mathml, ziamath, nbconvert, ipykernel"; then
  say "mkdocs into .venv"
  .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 "mkdocs>=1.6" "mkdocstrings[python]>=1" pymdown-extensions \
    pygments latex2mathml ziamath nbconvert ipykernel || {
    say "the site needs mkdocs 1.6 and mkdocstrings, and no package index can be reached"
    exit 1
  }
fi
if [ -n "$missing" ] || [ -z "$manager" ]; then echo "$places" > $stamp; fi
