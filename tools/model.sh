#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Checks models in Promela with spin.
#
#   tools/model.sh x.pml ...
#
# A model's head comment has a line for each way to compile it: "holds: -DX=1 ..." must verify, with
# the whole state space searched; "fails: -DBUG ... why" must not, for it has a seeded bug, or asks
# whether something can be reached. Exit status 0: all are as the lines say.
set -u

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
wrong=0 count=0

# verify MODEL DEFINITIONS...: prints "holds", "fails", or what went wrong.
verify() {
  local model=$1
  shift
  rm -f "$work"/pan* "$work"/*.trail
  if ! (cd "$work" && spin "$@" -a "$model" >spin.log 2>&1) ||
    ! (cd "$work" && "${CC:-cc}" -O2 -w -DSAFETY -DMEMLIM=4000 -o pan pan.c >cc.log 2>&1); then
    echo "does not compile: $(head -n 3 "$work"/*.log)"
    return
  fi
  (cd "$work" && timeout 300 ./pan -m1000000 >pan.log 2>&1) || true
  if grep -q 'errors: [1-9]' "$work/pan.log"; then
    echo fails
  elif grep -q 'errors: 0' "$work/pan.log" && ! grep -q 'depth too small\|not completed' "$work/pan.log"; then
    echo holds
  else
    echo "was not searched to the end: $(grep -m1 . "$work/pan.log")"
  fi
}

for model in "$@"; do
  echo "$model"
  path=$(readlink -f "$model")
  while read -r expected line; do
    definitions=() why=
    for word in $line; do
      case $word in
        -D*) definitions+=("$word") ;;
        *) why="$why $word" ;;
      esac
    done
    found=$(verify "$path" "${definitions[@]}")
    states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/pan.log" 2>/dev/null)
    count=$((count + 1))
    mark=
    [ "$found:" = "$expected" ] || { mark=' <-- WRONG' wrong=$((wrong + 1)); }
    printf '  %-6s %-60s %9s states%s%s\n' "$found" "${definitions[*]}" "${states:-?}" "$why" "$mark"
  done < <(sed -n 's/^ \* \(\(holds\|fails\):.*\)/\1/p' "$path" | sed 's| \*/$||')
done

echo "$count ways, $wrong not as they should be"
[ "$wrong" = 0 ] && [ "$count" -gt 0 ]
