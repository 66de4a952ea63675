#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Trains a tiny model with two workers, all three processes under valgrind's memcheck, or runs the
# specs that are named, without their workers, which valgrind would make too late for their driver;
# fails when any of these processes did something wrong with memory.
#
#   tools/valgrind.sh DIRECTORY [SPEC...]    where the data and one log a process are left
#
# What LuaJIT's own allocator hands out is one block to memcheck: to see into the heap of Lua, too,
# use a LuaJIT built with -DLUAJIT_USE_SYSMALLOC -DLUAJIT_USE_VALGRIND (make check-luajit). Such a
# one tells memcheck of its machine code: MEISSA_TEST_JIT=on lets it compile in specs.
set -eu -o pipefail

mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -f "$out"/*.log

train() {
  # 300 ratings of 30 users and 20 items.
  awk 'BEGIN {
    print "user,item,rating"
    for (n = 0; n < 300; n++) print n % 30 + 1 "," (n * 7 + int(n / 30)) % 20 + 1 "," n % 5 + 1
  }' >"$out/ratings.csv"

  # -joff everywhere: machine code that appears and changes at run time makes memcheck report LuaJIT
  # itself. Workers are started by this name.
  cat >"$out/luajit" <<'WORKER'
#!/bin/sh
exec luajit -joff "$@"
WORKER
  chmod +x "$out/luajit"

  MEISSA_LUAJIT="$out/luajit" timeout -k 10 "${VALGRIND_SECONDS:-600}" \
    valgrind --quiet --trace-children=yes \
    --gen-suppressions=all --num-callers=30 \
    --error-exitcode=99 --log-file="$out/%p-%n.log" \
    luajit -joff examples/train_mf.lua \
    --data "$out/ratings.csv" --epochs 2 --rank 4 --workers 2
}

run_specs() {
  local lua
  lua=$(command -v luajit)
  cat >"$out/memcheck" <<DRIVER
#!/bin/sh
exec valgrind --quiet --smc-check=all --gen-suppressions=all --num-callers=30 \\
  --log-file="$out/%p-%n.log" "$lua" "\$@"
DRIVER
  chmod +x "$out/memcheck"
  LUAJIT="$out/memcheck" MEISSA_LUAJIT="$lua" MEISSA_TEST_JIT=${MEISSA_TEST_JIT:-off} \
    MEISSA_TEST_SLOWDOWN=${MEISSA_TEST_SLOWDOWN:-20} tools/test.sh "$@"
}

status=0
shift
if [ $# = 0 ]; then
  train >"$out/output" 2>&1 </dev/null || status=$?
else
  run_specs "$@" 2>&1 | tee "$out/output" || status=$?
fi

wrong=$(cat "$out"/*.log | grep -c '^==[0-9]*== .' || true)
if [ "$status" != 0 ] || [ "$wrong" != 0 ]; then
  [ $# != 0 ] || cat "$out/output" >&2
  grep -hv '^--' "$out"/*.log | head -n 400 >&2 || true
  echo "valgrind: status $status, logs in $out" >&2
  exit 1
fi
echo "valgrind: $(find "$out" -name '*.log' | wc -l) processes, no error"
