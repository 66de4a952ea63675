#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Trains a tiny model with two workers, all three processes under valgrind's memcheck, and fails
# when any of them did something wrong with memory.
#
#   tools/valgrind.sh DIRECTORY    where the data and one log a process are left
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -f "$out"/*.log

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

status=0
MEISSA_LUAJIT="$out/luajit" timeout -k 10 "${VALGRIND_SECONDS:-600}" \
  valgrind --quiet --trace-children=yes \
  --gen-suppressions=all --num-callers=30 \
  --error-exitcode=99 --log-file="$out/%p-%n.log" \
  luajit -joff examples/train_mf.lua \
  --data "$out/ratings.csv" --epochs 2 --rank 4 --workers 2 >"$out/output" 2>&1 </dev/null ||
  status=$?

wrong=$(cat "$out"/*.log | grep -c '^==[0-9]*== .' || true)
if [ "$status" != 0 ] || [ "$wrong" != 0 ]; then
  cat "$out/output" "$out"/*.log | head -n 400 >&2
  echo "valgrind: status $status, logs in $out" >&2
  exit 1
fi
echo "valgrind: $(find "$out" -name '*.log' | wc -l) processes, no error"
