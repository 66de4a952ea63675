#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Installs the Debian packages that a target needs and this machine lacks.
#
#   tools/packages.sh [--check] build|demo|test|quick|check|model|fuzz ...
#
# Each package has a probe that asks for the thing itself (a command, a header, a Lua module), so a
# machine that got it from elsewhere is left alone, and nothing is asked of apt or sudo when nothing
# is missing. --check only reports. Exit status 0: everything is there.
set -u

missing=()

# need PACKAGE PROBE...: the package is missing when the probe fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

has() {
  command -v "$1"
}

# The major version of the clang that Debian ships: its run-time libraries are named by it.
clang_major() {
  apt-cache show clang 2>/dev/null | sed -n 's/^Version: 1:\([0-9]*\)\..*/\1/p' | head -n 1
}

has_fuzzer() {
  local program
  program=$(mktemp) || return 1
  echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d[n] * 0; }' |
    clang -x c -fsanitize=fuzzer,address -o "$program" -
  local status=$?
  rm -f "$program"
  return "$status"
}

group() {
  case $1 in
    build)
      need gcc has "${CC:-cc}"
      need luajit has luajit
      need pkg-config has pkg-config
      need libluajit-5.1-dev pkg-config --exists luajit
      need libzmq3-dev pkg-config --cflags libzmq
      need libisl-dev pkg-config --exists isl
      need zlib1g-dev pkg-config --exists zlib
      ;;
    demo)
      need lua-argparse luajit -e 'require "argparse"'
      need lua-dkjson luajit -e 'require "dkjson"'
      ;;
    test)
      need lua-busted luajit -e 'require "busted"'
      need libopenblas0 luajit -e 'require("ffi").load("libopenblas.so.0")'
      need luarocks has luarocks
      ;;
    quick)
      need clang has clang
      need clang-format has clang-format
      need lua-check has luacheck
      need shellcheck has shellcheck
      ;;
    check)
      # valgrind cannot start without the names in the dynamic loader, which libc6-dbg carries.
      need valgrind has valgrind
      need libc6-dbg valgrind -q true
      ;;
    model)
      need gcc has "${CC:-cc}"
      need spin has spin
      ;;
    fuzz)
      need clang has clang
      need "libclang-rt-$(clang_major)-dev" has_fuzzer
      ;;
    *)
      echo "packages.sh: unknown group '$1' (build, demo, test, quick, check, model, fuzz)" >&2
      exit 2
      ;;
  esac
}

# Ends with what to do by hand: $1 says why it was not done here, $2 is put before apt-get.
give_up() {
  {
    echo "meissa: missing Debian packages: ${missing[*]}"
    echo "meissa: $1"
    echo "    ${2-sudo }apt-get install ${missing[*]}"
  } >&2
  exit 1
}

# Runs apt-get with the rights that it needs. A fresh machine may still hold apt's lock: wait.
apt() {
  local options=(-qq -o "DPkg::Lock::Timeout=300" -o "Acquire::Retries=3" -o "Dpkg::Use-Pty=0")
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" "$@"
}

install_missing() {
  has apt-get >/dev/null || give_up "there is no apt-get here; on Debian 12 the command would be"
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    has sudo >/dev/null || give_up "this is not root, and there is no sudo; as root, run" ""
    # Without a terminal nobody can type a password: fail at once instead of waiting for one.
    if ! sudo -n true 2>/dev/null; then
      [ -t 0 ] || give_up "sudo wants a password, and there is no terminal to type it; run"
      echo "Missing Debian packages: ${missing[*]}"
      sudo true || give_up "sudo did not let this user in; as an administrator, run"
    fi
    as_root=(sudo)
  fi
  echo "Installing Debian packages: ${missing[*]}"
  local log
  log=$(mktemp) || exit 1
  # One unreachable list must not stop an installation that does not need it.
  apt update >"$log" 2>&1 || true
  if ! apt install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    give_up "apt-get failed as shown above; when its cause is mended, run"
  fi
  rm -f "$log"
}

check_only=no
if [ "${1:-}" = --check ]; then
  check_only=yes
  shift
fi
for name in "$@"; do
  group "$name"
done
[ ${#missing[@]} -gt 0 ] || exit 0
[ $check_only = no ] || give_up "'make deps' installs them, or run"
install_missing
