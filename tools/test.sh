#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs test programs and specs, each in a session of its own under a time limit, two for each core
# at a time, 16 at most: many wait more than they compute.
#
#   tools/test.sh FILE...        x_spec.lua runs under busted on LuaJIT, anything else is a program
#                                whose last line is "N passed, N failed"
#
# A failing test, a crash, a file without tests, a hang and a process left behind are failures that
# name the file, and are named once more at the end. The last line sums everything, "N passed, N
# failed"; the exit status is 0 only when something passed and nothing failed.
#
# The limit of a file is 300 s, or what a line "time limit: N s" among its first 20 says.
#   MEISSA_TEST_SLOWDOWN=N   multiplies all limits (sanitizers and valgrind are slow)
#   MEISSA_TEST_PRELOAD=...  LD_PRELOAD for the tests alone
#   MEISSA_TEST_LIMIT=N      another limit than 300
#   MEISSA_TEST_JOBS=N       how many files run at a time
#   MEISSA_TEST_FIRST=1      a spec ends with its first failure
#   MEISSA_TEST_SEED=N       another seed of the random tests than the suite's own; "random" takes
#                            one from the clock and prints it
#   MEISSA_TEST_GC=step      LuaJIT's collector works at every allocation and never rests
#   MEISSA_TEST_JIT=off      LuaJIT compiles nothing, whatever a spec asks for
# The last two hold in workers, too, and in what specs start.
set -u

# Tests may call make; what this make was told is not meant for them.
unset MAKEFLAGS MFLAGS MAKELEVEL

here=$(cd "$(dirname "$0")" && pwd)

# Whether what tests write may lie in memory: there is room, and programs can be run from there.
fits_memory() {
  local free probe status
  free=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
  [ "${free:-0}" -gt 4000000 ] || return 1 # KB
  probe=$(mktemp /dev/shm/XXXXXXXX) || return 1
  printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe" && "$probe" 2>/dev/null
  status=$?
  rm -f "$probe"
  return "$status"
}

# Specs write thousands of scripts and kernels: those with the most took 21 s there, 24 on a disk.
if [ -z "${TMPDIR:-}" ] && fits_memory; then
  export TMPDIR=/dev/shm
fi

scratch=$(mktemp -d) || exit 1
# Of a lane, which runs one file after the other:
log=     # what the file under test printed
counts=  # written by tools/busted_report.lua: "passed failed skipped" when it is done
doing=   # the test that is running, for the report on a hang or a crash
failures= # a few lines on each file that failed
current=0 # the session that is running
lanes=()

# Compiled loops are kept for the tests of one run, and apart from the user's own.
if [ -z "${MEISSA_CACHE:-}" ]; then
  mkdir -m 700 "$scratch/cache"
  export MEISSA_CACHE=$scratch/cache
fi

# Limits only end what hangs: compilers take their time on a loaded machine.
export MEISSA_CC_LIMIT=${MEISSA_CC_LIMIT:-300}

# What the random tests draw is a part of the commit: spec/support/seed.lua has the same number.
if [ "${MEISSA_TEST_SEED:-}" = random ]; then
  MEISSA_TEST_SEED=$(($(date +%s) % 1000000))
  echo "MEISSA_TEST_SEED=$MEISSA_TEST_SEED"
fi
export MEISSA_TEST_SEED=${MEISSA_TEST_SEED:-20261120}

# Every luajit runs LUA_INIT first. With this step the collector marks or frees some 20 kB at each
# allocation, and goes round the heap of a spec while that makes a few hundred objects.
init=
[ "${MEISSA_TEST_GC:-}" != step ] ||
  init='collectgarbage("setpause", 0) collectgarbage("setstepmul", 2000) '
[ "${MEISSA_TEST_JIT:-}" != off ] || init+='jit.off() jit.on = function() end'
[ -z "$init" ] || export LUA_INIT=$init

# Room for the machine code of a whole spec. In the 1,000 traces and 512 kB that LuaJIT has by
# default, long specs throw all of it away time and again: a quarter of what oracles take. What
# specs start has the defaults.
room=-Omaxtrace=8000,maxmcode=8192

# Specs build much and keep it: with LuaJIT's own pause a twentieth of their time goes into looking
# through it.
pause=
[ "${MEISSA_TEST_GC:-}" = step ] || pause='collectgarbage("setpause", 400)'

# Kills the session $1. bash's own kill: the command belongs to a package that may be missing.
kill_members() {
  local list
  read -r -d '' -a list < <(members "$1")
  [ ${#list[@]} = 0 ] || kill -KILL "${list[@]}" 2>/dev/null
}

# On an interruption the running sessions go first, then the lanes, then this script.
stop_lane() {
  [ "$current" = 0 ] || kill_members "$current"
  exit 130
}
stop() {
  [ ${#lanes[@]} = 0 ] || kill -TERM "${lanes[@]}" 2>/dev/null
  wait
  rm -rf "$scratch"
  trap - INT TERM EXIT
  exit 130
}
trap stop INT TERM
trap 'rm -rf "$scratch"' EXIT

passed=0
failed=0
skipped=0

limit_of() {
  local own
  own=$(sed -n '/time limit: [0-9][0-9]* s/{s/.*time limit: \([0-9][0-9]*\) s.*/\1/p;q};20q' "$1" \
    2>/dev/null)
  echo $((${own:-${MEISSA_TEST_LIMIT:-300}} * ${MEISSA_TEST_SLOWDOWN:-1}))
}

# Lists the living processes of session $1. Zombies do not count: who has no init keeps them. Of a
# process's line the name, in parentheses, may contain anything; behind it are state, parent, group,
# session and other numbers. By one grep: this shell would take ten times as long.
members() {
  local list
  list=$(grep -Esl "\\) [^Z] [0-9]+ [0-9]+ $1 [-0-9 ]*\$" /proc/[0-9]*/stat)
  echo "${list//[!0-9$'\n']/}"
}

# Processes that outlive their test get 3 s to end: workers end by themselves, soon after their driver.
left_behind() {
  for _ in {1..30}; do
    [ -n "$(members "$1")" ] || return 1
    sleep 0.1
  done
  kill_members "$1"
  return 0
}

# Starts one file; the status is its exit status, 124 when the limit ended it.
run() {
  local file=$1 limit=$2 began=$SECONDS status
  local command=("$file")
  case $file in
    *_spec.lua)
      command=("${LUAJIT:-luajit}" "$room" -e "$pause" -e 'require("busted.runner")({standalone = false})'
        /dev/null --run=runner -o "$here/busted_report.lua" -Xoutput "$counts" -Xoutput "$doing" "$file")
      [ -z "${MEISSA_TEST_FIRST:-}" ] || command+=(--no-keep-going)
      ;;
    */*) ;;
    *) command=("./$file") ;;
  esac
  : >"$doing"
  rm -f "$counts"
  if [ -n "${MEISSA_TEST_PRELOAD:-}" ]; then
    command=(env "LD_PRELOAD=$MEISSA_TEST_PRELOAD" "${command[@]}")
  fi
  # A session rather than a process group: what a test starts may make groups (timeout does).
  setsid timeout -k 2 "$limit" "${command[@]}" >"$log" 2>&1 </dev/null 8<&- 9>&- &
  current=$!
  wait "$current" 2>/dev/null
  status=$?
  if [ "$status" = 137 ] && [ $((SECONDS - began)) -ge "$limit" ]; then
    status=124
  fi
  return "$status"
}

# Sets good, bad and pending from what the file reported; fails when it reported nothing.
read_counts() {
  case $1 in
    *_spec.lua)
      read -r good bad pending 2>/dev/null <"$counts"
      ;;
    *)
      local pattern='^([0-9]+) passed, ([0-9]+) failed$'
      [[ $(tail -n 1 "$log") =~ $pattern ]] || return 1
      good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
      sed -i '$d' "$log"
      ;;
  esac
}

# The words for an end that is a failure in itself, or nothing.
verdict() {
  local status=$1 reported=$2
  if [ "$status" = 124 ]; then
    echo "did not end within $limit s"
  elif [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
    echo "was killed by signal $(kill -l $((status - 128)))"
  elif [ "$reported" = no ]; then
    echo "ended with status $status before its tests did"
  elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
    echo "ended with status $status although no test failed"
  elif [ $((good + bad)) = 0 ]; then
    echo "contains no test that ran"
  fi
}

test_file() {
  local file=$1 began=${EPOCHREALTIME/./} good=0 bad=0 pending=0 reported=yes
  local limit status trouble line tenths
  limit=$(limit_of "$file")
  run "$file" "$limit"
  status=$?
  read_counts "$file" || reported=no
  trouble=$(verdict "$status" "$reported")
  if left_behind "$current"; then
    trouble="${trouble:+$trouble, and }left processes behind"
  fi
  current=0
  if [ -n "$trouble" ]; then
    if [ -s "$doing" ]; then
      trouble="$trouble, at or after: $(tail -n 1 "$doing")"
    fi
    bad=$((bad + 1))
  fi
  line="$good passed"
  [ "$bad" = 0 ] || line="$line, $bad FAILED"
  [ "$pending" = 0 ] || line="$line, $pending skipped"
  tenths=$(((${EPOCHREALTIME/./} - began) / 100000))
  printf '%-44s %5s.%d s  %s\n' "$file" $((tenths / 10)) $((tenths % 10)) "$line"
  [ -z "$trouble" ] || echo "    $file $trouble"
  if [ "$bad" != 0 ] || [ "$pending" != 0 ]; then
    tail -n "${MEISSA_TEST_LINES:-200}" "$log" | sed 's/^/    /'
  fi
  if [ "$bad" != 0 ]; then
    {
      echo "$file${trouble:+ $trouble}"
      grep -aE -A 2 '^(FAILED|ERROR|.*: not true: )' "$log" | head -n 12 | cut -c 1-200 | sed 's/^/    /'
    } >>"$failures"
  fi
  passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + pending))
}

# Takes the next file from the queue. All lanes read from one place in it, each has a lock of its
# own.
next_file() {
  flock 9
  IFS= read -r file <&8
  local status=$?
  flock -u 9
  return "$status"
}

# Runs files until none is left. What is said of one comes in one piece.
lane() {
  local file
  mkdir "$1"
  log=$1/log counts=$1/counts doing=$1/doing failures=$1/failures
  exec 9>"$scratch/lock"
  trap stop_lane TERM
  while next_file; do
    test_file "$file" >"$1/said"
    flock 9
    cat "$1/said"
    flock -u 9
  done
  echo "$passed $failed $skipped" >"$1/sums"
}

printf '%s\n' "$@" >"$scratch/queue"
exec 8<"$scratch/queue"
cores=$(nproc)
jobs=${MEISSA_TEST_JOBS:-$((cores < 8 ? 2 * cores : 16))}
for ((k = 1; k <= jobs && k <= $#; k++)); do
  lane "$scratch/$k" &
  lanes+=($!)
done
wait
for ((k = 1; k <= ${#lanes[@]}; k++)); do
  if read -r good bad pending 2>/dev/null <"$scratch/$k/sums"; then
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + pending))
  else
    echo "A lane ended before its tests did."
    failed=$((failed + 1))
  fi
done
echo
if [ "$failed" != 0 ]; then
  cat "$scratch"/[0-9]*/failures 2>/dev/null
  echo
fi
if [ $((passed + failed)) = 0 ]; then
  echo "No test ran."
fi
if [ "$skipped" != 0 ]; then
  echo "$skipped skipped (see above)"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
